"""MMD^2 of rows projected to few dimensions by Fourier quadrature."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.fourier._fourier import FourierMMD as FourierMMD
