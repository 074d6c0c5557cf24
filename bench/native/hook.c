/* SPDX-License-Identifier: Apache-2.0
 *
 * What a site costs: nanoseconds for a call that does next to nothing, bare and with a thunk like those of
 * `outfox cc`. bench/native.py builds it and runs it without a trial, with one that is not armed, and with
 * one that is.
 *
 *     hook CALLS [THREADS]     prints "bare NS" and "site NS", each the least of several rounds; with threads,
 *                              "same NS" (all at one point) and "apart NS" (each at its own) */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "native/records.h"

enum { ROUNDS = 7, MOST_THREADS = 8 };

SITE(the_site, OUTFOX_CALL, OUTFOX_SUBJECT_NONE, OUTFOX_ERROR, OUTFOX_RESULT_ERRNO, -1, 1,
     {5, OUTFOX_ON_ANY});
FUNCTION(the_function);
STATE(state_0, 0);
STATE(state_1, 1);
STATE(state_2, 2);
STATE(state_3, 3);
STATE(state_4, 4);
STATE(state_5, 5);
STATE(state_6, 6);
STATE(state_7, 7);
static const struct outfox_state *const states[] = {&state_0, &state_1, &state_2, &state_3,
                                                    &state_4, &state_5, &state_6, &state_7};

static __attribute__((noinline)) long work(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

static __attribute__((noinline)) long bare(long n)
{
    return work(n);
}

static __attribute__((noinline)) long with_site(long n)
{
    long value;
    unsigned long count = 8;
    if (__builtin_expect(HOOKED(the_site, 0, &count, &value), 0))
        return value;
    return work(n);
}

static double now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double run(long (*call)(long), long calls)
{
    double start = now_ns();
    for (long i = 0; i < calls; i++)
        call(i);
    return (now_ns() - start) / (double)calls;
}

static double least(long (*call)(long), long calls)
{
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double ns = run(call, calls);
        best = ns < best ? ns : best;
    }
    return best;
}

struct job {
    const struct outfox_state *state;
    long calls;
    double ns;
};

static void *run_job(void *at)
{
    struct job *job = at;
    outfox_now = job->state;
    job->ns = run(with_site, job->calls);
    return NULL;
}

static double with_threads(int n, long calls, int apart)
{
    pthread_t thread[MOST_THREADS];
    struct job job[MOST_THREADS];
    double sum = 0;
    for (int i = 0; i < n; i++) {
        job[i] = (struct job){states[apart ? i : 0], calls, 0};
        pthread_create(&thread[i], NULL, run_job, &job[i]);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
        sum += job[i].ns;
    }
    return sum / n;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    the_function.enabled = 1;
    ENTER(the_function);
    IN_STATE(state_0);
    printf("bare %.2f\nsite %.2f\n", least(bare, calls), least(with_site, calls));
    if (threads > 0 && threads <= MOST_THREADS)
        printf("same %.2f\napart %.2f\n", with_threads(threads, calls, 0),
               with_threads(threads, calls, 1));
    LEAVE();
    return 0;
}
