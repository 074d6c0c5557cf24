/* SPDX-License-Identifier: Apache-2.0
 *
 * The agent as its files see it: server.c accepts, and ends; own.c has its token and its certificate; visit.c is one connection, and what it
 * runs. */
#ifndef OUTFOX_AGENT_AGENT_INT_H
#define OUTFOX_AGENT_AGENT_INT_H

#include "agent/agent.h"
#include "io/addr.h"
#include "io/conn.h"
#include "io/process.h"

struct visit;

struct agent {
    struct loop loop;
    struct keeper *keeper;
    struct listener listener;
    bool listening, ending;
    struct tls_context *tls;
    char fingerprint[TLS_FINGERPRINT_MAX];
    struct agent_options o;
    struct addr at;
    const char *token_file, *cert; /* those in use */
    slice token;
    const char *program; /* OUTFOX_AGENT=PATH: what scripts call outfox here */
    struct arena arena;
    uv_signal_t on_int, on_term;
    int signal;        /* that ends us; 0: none */
    struct timer late; /* the patience of all is over */
    struct timer rest; /* nobody has come for a while */
    struct visit *visits;
    uint32_t n_visits, n_strangers;
};

/* Fills in token and certificate: those that are given, or the agent's own, which are made when they
 * are not there yet (own.c). */
int agent_own(struct agent *a, struct err *e) MUST_USE;

void agent_say(const struct agent *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Nobody is here any more. */
void agent_rests(struct agent *a);

/* Takes over the descriptor of a connection. */
void visit_new(struct agent *a, int fd);

/* We end: what runs loses its input; what does not run is refused. */
void visit_end(struct visit *v);

/* Kills what is left of it. */
void visit_kill(struct visit *v);
struct visit *visit_next(const struct visit *v); /* newest first */
bool visit_is_stranger(const struct visit *v);

#endif
