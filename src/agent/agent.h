/* SPDX-License-Identifier: Apache-2.0
 *
 * The agent: runs scripts that outfox sends from another machine, and is what sends them there. It
 * knows nothing of plans: what must hold on a host (an end with us, an undo) is said by the scripts,
 * which learn of an end by that of their input (plan/connector.h).
 *
 *   outfox plan run --> outfox agent run == TLS ==> outfox agent --> keeper --> guard --> sh -c SCRIPT
 *
 * 1. Nothing is run, and nothing but a head is kept, for whom the token is not known.
 * 2. A script's input ends when its connection does, when the agent is told to end, and when the agent
 *    is killed. Then it has AGENT_PATIENCE_NS to end by itself; what is left of it is killed.
 * 3. All that a peer sends is bounded, and so is what it does not take: then the script waits. */
#ifndef OUTFOX_AGENT_AGENT_H
#define OUTFOX_AGENT_AGENT_H

#include "base/clock.h"
#include "base/err.h"

#define AGENT_PATIENCE_NS SECONDS(30)

enum {
    AGENT_PORT = 7700,
    AGENT_VISITS_MOST = 512,       /* scripts under way */
    AGENT_STRANGERS_MOST = 64,     /* connections that have not said the token yet, */
    AGENT_STRANGER_S = 10,         /* for which they have so long */
    AGENT_SILENCE_S = 15,          /* of the peer's system: then it is gone */
    AGENT_UNREAD_MAX = 256 * 1024, /* output that the peer does not take */
    AGENT_LOST = 255,              /* exit code of agent_run: no answer */
};

struct agent;

struct agent_options {
    const char *listen;     /* HOST:PORT; NULL: 127.0.0.1:7700 */
    const char *token_file; /* NULL: one is made and kept, so that it is the same again */
    const char *cert, *key; /* PEM files; key NULL: in the file of cert. Without cert: likewise */
    void (*say)(void *user, const char *text); /* a sentence for its log */
    void *user;
};

/* Where it is, for plans. */
struct agent_where {
    const char *text, *host; /* 127.0.0.1:7700; 127.0.0.1 */
    bool everywhere;         /* all addresses of this machine; host is none */
    uint16_t port;
    const char *token_file, *fingerprint;
};

/* Listens. Before anything else of the process is opened. 0, or -1 with *e; to be freed in any case. */
int agent_new(struct agent **out, const struct agent_options *o, struct err *e) MUST_USE;
void agent_where(struct agent *a, struct agent_where *out);

/* Until SIGINT or SIGTERM; then all scripts end. A second signal ends it at once. Which one. */
int agent_serve(struct agent *a);
void agent_free(struct agent *a);

/* ---- the other side ---- */

struct agent_call {
    const char *address; /* HOST:PORT */
    const char *token_file;
    const char *ca, *fingerprint; /* one of them */
    slice script;
};

/* Runs a script there, with our standard streams. Its exit code, or AGENT_LOST with *e. */
int agent_run(const struct agent_call *w, struct err *e);

#endif
