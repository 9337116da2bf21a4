/* Sums over vectors of some dozen to some hundred numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

FOR_EACH_MACHINE
double dot(const double *x, const double *y, size n)
{
    /* Eight sums side by side, so that additions need not wait for each other. */
    vec even = all(0.0), odd = all(0.0);
    size k = 0;
    for (; k + 2 * WIDTH <= n; k += 2 * WIDTH) {
        even += load(x + k) * load(y + k);
        odd += load(x + k + WIDTH) * load(y + k + WIDTH);
    }
    double total = sum_of(even + odd);
    for (; k < n; k++)
        total += x[k] * y[k];
    return total;
}

FOR_EACH_MACHINE
void add_multiple(double factor, const double *restrict x, double *restrict y, size n)
{
    for (size k = 0; k < n; k++)
        y[k] += factor * x[k];
}
