/* Threads that help with short work, and wait for it outside of the interpreter.
 *
 * SPDX-License-Identifier: MIT
 *
 * A pass over the kernel matrix of 700 rows takes half a millisecond. A thread of Python needs the interpreter lock to
 * begin and to end its part, which takes a third of what it saves; these do not.
 */
#include "native.h"
#include "pythread.h"
#include <sched.h>
#ifndef _WIN32
#include <pthread.h>
#endif

enum { MOST_HELPERS = 63, SPINS = 2000 };

static struct {
    void (*work)(void *); /* what is being worked on, while it is open */
    void *job;
    int open, inside; /* whether helpers may begin; how many are at it, or looking */
    int taken;        /* one thread at a time has helpers; others work alone */
    int n;
    PyThread_type_lock doors[MOST_HELPERS];
} helpers;

static void help(void *door)
{
    for (;;) {
        PyThread_acquire_lock(door, WAIT_LOCK);
        /* In this order: whoever is seen inside is waited for, whoever is not sees that it is closed. */
        __atomic_add_fetch(&helpers.inside, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&helpers.open, __ATOMIC_SEQ_CST))
            helpers.work(helpers.job);
        __atomic_sub_fetch(&helpers.inside, 1, __ATOMIC_SEQ_CST);
    }
}

/* A forked child has none of its parent's threads, and none of them will give back what it has taken. */
static void forget_helpers(void)
{
    helpers.n = helpers.open = helpers.inside = helpers.taken = 0;
}

static void forget_helpers_after_fork(void)
{
#ifndef _WIN32
    static int is_known = 0;
    if (!is_known)
        pthread_atfork(NULL, NULL, forget_helpers);
    is_known = 1;
#endif
}

static void start_helpers(int wanted)
{
    if (helpers.n == 0)
        forget_helpers_after_fork();
    while (helpers.n < wanted && helpers.n < MOST_HELPERS) {
        PyThread_type_lock door = PyThread_allocate_lock();
        if (door == NULL)
            return;
        PyThread_acquire_lock(door, WAIT_LOCK);
        if (PyThread_start_new_thread(help, door) == (unsigned long)-1) {
            PyThread_free_lock(door);
            return;
        }
        helpers.doors[helpers.n++] = door;
    }
}

static void wait_for_helpers(void)
{
    for (int spins = 0; __atomic_load_n(&helpers.inside, __ATOMIC_SEQ_CST) > 0; spins++)
        if (spins > SPINS)
            sched_yield();
}

void work_together(void (*work)(void *), void *job, int threads)
{
    if (threads < 2 || __atomic_exchange_n(&helpers.taken, 1, __ATOMIC_ACQUIRE)) {
        work(job);
        return;
    }
    start_helpers(threads - 1);
    helpers.work = work;
    helpers.job = job;
    __atomic_store_n(&helpers.open, 1, __ATOMIC_SEQ_CST);
    for (int k = 0; k < threads - 1 && k < helpers.n; k++)
        PyThread_release_lock(helpers.doors[k]);
    work(job);
    __atomic_store_n(&helpers.open, 0, __ATOMIC_SEQ_CST);
    wait_for_helpers();
    __atomic_store_n(&helpers.taken, 0, __ATOMIC_RELEASE);
}
