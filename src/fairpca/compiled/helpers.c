/* Threads that help with short work, and wait for it outside of the interpreter.
 *
 * SPDX-License-Identifier: MIT
 *
 * A pass over the kernel matrix of 700 rows takes half a millisecond. A thread of Python needs the interpreter lock to
 * begin and to end its part, which takes a third of what it saves; these do not. To wake a thread takes a fifth of it, so
 * that they stay awake for a moment: a solver comes back with the next pass.
 */
#include "native.h"
#include "pythread.h"
#include <sched.h>
#include <time.h>
#ifndef _WIN32
#include <pthread.h>
#endif

enum { MOST_HELPERS = 63, SPINS = 2000, PAUSES = 64, NANOSECONDS_AWAKE = 200000 };

static struct {
    void (*work)(void *); /* what is being worked on, while it is open */
    void *job;
    int open, inside; /* whether helpers may begin; how many are at it, or looking */
    int taken;        /* one thread at a time has helpers; others work alone */
    unsigned calls;   /* how often they were called */
    int n;
    PyThread_type_lock doors[MOST_HELPERS];
    int asleep[MOST_HELPERS]; /* who waits at the door, which whoever takes this back has to open */
} helpers;

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int was_called(unsigned seen)
{
    return __atomic_load_n(&helpers.calls, __ATOMIC_SEQ_CST) != seen;
}

/* Returns when helpers have been called since: awake for a moment, leaving the core to others who want it, then asleep. */
static void wait_for_call(int number, unsigned seen)
{
    for (long long began = now(); now() - began < NANOSECONDS_AWAKE;)
        for (int k = 0; k < PAUSES; k++) {
            if (was_called(seen))
                return;
            pause_briefly();
        }
    __atomic_store_n(&helpers.asleep[number], 1, __ATOMIC_SEQ_CST);
    /* Called in between: whoever takes the mark back decides whether the door will be opened. */
    if (was_called(seen) && __atomic_exchange_n(&helpers.asleep[number], 0, __ATOMIC_SEQ_CST))
        return;
    PyThread_acquire_lock(helpers.doors[number], WAIT_LOCK);
}

static void help(void *number)
{
    unsigned seen = 0;
    for (;;) {
        wait_for_call((int)(intptr_t)number, seen);
        seen = __atomic_load_n(&helpers.calls, __ATOMIC_SEQ_CST);
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
    memset(&helpers, 0, sizeof helpers);
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
        helpers.doors[helpers.n] = door;
        if (PyThread_start_new_thread(help, (void *)(intptr_t)helpers.n) == (unsigned long)-1) {
            PyThread_free_lock(door);
            return;
        }
        helpers.n++;
    }
}

static void call_helpers(int wanted)
{
    __atomic_add_fetch(&helpers.calls, 1, __ATOMIC_SEQ_CST);
    for (int k = 0; k < wanted && k < helpers.n; k++)
        if (__atomic_exchange_n(&helpers.asleep[k], 0, __ATOMIC_SEQ_CST))
            PyThread_release_lock(helpers.doors[k]);
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
    call_helpers(threads - 1);
    work(job);
    __atomic_store_n(&helpers.open, 0, __ATOMIC_SEQ_CST);
    wait_for_helpers();
    __atomic_store_n(&helpers.taken, 0, __ATOMIC_RELEASE);
}
