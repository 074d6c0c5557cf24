/* SPDX-License-Identifier: Apache-2.0
 *
 * bare ADDRESS PATH N: sends N requests to a service, one after the other, with the client that
 * campaigns use, and prints nanoseconds per request. What a scenario costs without any proxy. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "http/client.h"

struct bare {
    struct loop loop;
    struct client *client;
    struct client_request request;
    uint64_t left;
    bool failed;
};

static void send_next(struct bare *b);

static void on_answer(void *user, const struct client_answer *a)
{
    struct bare *b = user;
    b->failed |= !outcome_ok(a->seen);
    if (--b->left == 0 || b->failed)
        loop_stop(&b->loop);
    else
        send_next(b);
}

static void send_next(struct bare *b)
{
    (void)client_send(b->client, &b->request, on_answer, b);
}

int main(int argc, char **argv)
{
    struct bare b = {0};
    struct addr to;
    struct err e = {0};
    if (argc != 4 || !slice_to_u64(slice_of(argv[3]), UINT32_MAX, &b.left) || !b.left ||
        addr_parse(slice_of(argv[1]), "ADDRESS", &to, &e)) {
        fprintf(stderr, "usage: bare ADDRESS PATH N\n");
        return 2;
    }
    uint64_t n = b.left;
    struct head head = {.method = SLICE("GET"),
                        .scheme = SLICE("http"),
                        .authority = slice_of(argv[1]),
                        .target = slice_of(argv[2])};
    b.request = (struct client_request){
        .to = &to, .head = &head, .timeout_ns = 5000000000, .body_max = 1 << 16};
    if (loop_init(&b.loop, NULL))
        return 1;
    b.client = client_new(&b.loop, false);
    int64_t start = clock_ns();
    send_next(&b);
    loop_run(&b.loop);
    printf("%.0f\n", (double)(clock_ns() - start) / (double)n);
    client_free(b.client);
    loop_deinit(&b.loop);
    return b.failed;
}
