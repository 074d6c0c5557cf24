/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of connectors, and the guard that looks after a command on a host. */
#include "plan/connector.h"

#include <string.h>

/* ---- the guard ---- */

/* For any POSIX shell with grep, kill, sleep and setsid. The words behind it: mark, lease, kind, command,
 * undo.
 *
 * The reader gets a line now and then. Each starts the alarm anew, and the alarm ends the guard, as
 * the end of the input does. It has a session of its own so that all of it can be ended at once, the
 * alarm's sleep too. All waits are ended by the end of what is waited for, not by a signal that may
 * come a moment too early: the trap kills the group, and the alarm kills the reader. */
#define GUARD                                                                                           \
    "mark=$1:$$: lease=$2 kind=$3 command=$4 undo=$5 gone= on=\n"                                       \
    "command -v setsid >/dev/null 2>&1 || {\n"                                                          \
    "  echo \"the host has no command setsid: install util-linux (or busybox) there\" >&2\n"            \
    "  exit 125; }\n"                                                                                   \
    "exec 3<&0\n"                                                                                       \
    "[ $kind = hold ] && on='echo \"outfox-on $$\"; '\n"                                                \
    "OUTFOX_MARK=$mark setsid sh -c \"$on\"'exec sh -c \"$1\"' outfox \"$command\" </dev/null 3<&- &\n" \
    "group=$!\n"                                                                                        \
    "trap 'gone=1; kill -s KILL -- -$group 2>/dev/null' HUP INT TERM\n"                                 \
    "setsid sh -c '\n"                                                                                  \
    "main=$1 lease=$2\n"                                                                                \
    "alarm() {\n"                                                                                       \
    "  (trap \"kill \\$z\" TERM; sleep $lease & z=$!; wait $z && kill -s TERM $main $$) &\n"            \
    "  a=$!; }\n"                                                                                       \
    "alarm\n"                                                                                           \
    "while read -r beat; do kill $a; alarm; done\n"                                                     \
    "kill -s TERM $main' outfox $$ \"$lease\" <&3 >/dev/null 2>&1 3<&- &\n"                             \
    "reader=$!\n"                                                                                       \
    "exec 3<&-\n"                                                                                       \
    "trap '' PIPE\n"                                                                                    \
    "{ wait $group; } 2>/dev/null; code=$?\n"                                                           \
    "kill -s KILL -- -$group 2>/dev/null\n"                                                             \
    "trap 'gone=1' HUP INT TERM\n"                                                                      \
    "for i in 1 2 3 4 5; do\n"                                                                          \
    "  [ $kind = run ] && break\n"                                                                      \
    "  left=$(grep -ls \"OUTFOX_MARK=$mark\" /proc/[0-9]*/environ 2>/dev/null)\n"                       \
    "  [ -n \"$left\" ] || break\n"                                                                     \
    "  for f in $left; do f=${f#/proc/}; kill -s KILL \"${f%/environ}\" 2>/dev/null; done\n"            \
    "done\n"                                                                                            \
    "if [ $kind = ward ] && [ $code = 0 ] && [ -z \"$gone\" ]; then\n"                                  \
    "  echo \"outfox-on $$\"\n"                                                                         \
    "  while [ -z \"$gone\" ] && kill -s 0 $reader 2>/dev/null; do wait $reader; done\n"                \
    "  sh -c \"$undo\" </dev/null; code=$?\n"                                                           \
    "elif [ $kind = ward ]; then\n"                                                                     \
    "  sh -c \"$undo\" </dev/null >/dev/null 2>&1\n"                                                    \
    "  [ $code = 0 ] && code=1\n"                                                                       \
    "fi\n"                                                                                              \
    "kill -s KILL -- -$reader 2>/dev/null\n"                                                            \
    "exit $code"

static void add_word(struct buf *out, slice word)
{
    buf_addc(out, ' ');
    buf_add_shell(out, word);
}

const char *const connect_kinds[] = {[CONNECT_RUN] = "run",
                                     [CONNECT_UNDO] = "undo",
                                     [CONNECT_HOLD] = "hold",
                                     [CONNECT_WARD] = "ward"};

void connector_script(const struct connect_call *c, struct buf *out)
{
    buf_adds(out, "sh -c ");
    if (c->kind == CONNECT_UNDO) {
        buf_add_shell(out, c->command);
        return;
    }
    buf_add_shell(out, SLICE(GUARD));
    buf_addf(out, " outfox %.*s %u %s", SLICE_ARG(c->mark), c->lease_s, connect_kinds[c->kind]);
    add_word(out, c->command);
    add_word(out, c->undo);
}

void connector_sweep(slice mark, slice dir, struct buf *out)
{
    buf_addf(
        out,
        "for i in 1 2 3 4 5 6 7 8 9; do\n"
        "  left=$(grep -ls 'OUTFOX_MARK=%.*s:' /proc/[0-9]*/environ 2>/dev/null)\n"
        "  [ -n \"$left\" ] || break\n"
        "  for f in $left; do f=${f#/proc/}; kill -s KILL \"${f%%/environ}\" 2>/dev/null; done\n"
        "done\n"
        "rm -rf",
        SLICE_ARG(mark));
    add_word(out, dir);
}

/* ---- connectors ---- */

/* The input of what is run to its end never ends by itself: a FIFO that is open for writing too. */
static void add_input(const struct connect_call *c, struct buf *out)
{
    if (c->kind != CONNECT_RUN)
        return;
    buf_adds(out, " <>");
    buf_add_shell(out, c->control);
    buf_adds(out, "/input");
}

static void add_option(struct buf *out, const char *option, slice value)
{
    if (!value.n)
        return;
    buf_adds(out, option);
    buf_add_shell(out, value);
}

/* A file as ssh's options take it: in quotes, because of blanks, and %% where they have codes. */
static void add_file(struct buf *out, const char *option, const char *quote, slice file)
{
    struct buf b = BUF_INIT(8192);
    for (size_t i = 0; i < file.n; i++) {
        if (file.p[i] == '%')
            buf_addc(&b, '%');
        buf_addc(&b, file.p[i]);
    }
    if (file.n) {
        struct buf word = BUF_INIT(9000);
        buf_addf(&word, "%s%.*s%s", quote, SLICE_ARG(buf_slice(&b)), quote);
        add_option(out, option, buf_slice(&word));
        buf_deinit(&word);
    }
    buf_deinit(&b);
}

/* Never a question, never an unknown key. A dead host is noticed within half a minute. */
static void wrap_ssh(const struct connect_call *c, struct buf *out)
{
    const struct plan_host *h = c->host;
    struct buf script = BUF_INIT(CONNECT_TEXT_MAX);
    buf_adds(out, "exec ssh -T -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=10 "
                  "-o ServerAliveInterval=5 -o ServerAliveCountMax=3 -o LogLevel=ERROR "
                  "-o ClearAllForwardings=yes -o ForwardAgent=no -o ForwardX11=no "
                  "-o PermitLocalCommand=no -o ControlPersist=no");
    if (h->known_hosts.n)
        buf_adds(out, " -o GlobalKnownHostsFile=/dev/null");
    if (h->key.n)
        buf_adds(out, " -o IdentitiesOnly=yes");
    add_file(out, " -o UserKnownHostsFile=", "\"", h->known_hosts);
    add_file(out, " -i ", "", h->key);
    add_option(out, " -l ", h->user);
    if (h->port)
        buf_addf(out, " -p %u", h->port);
    buf_addf(out, " -o ControlMaster=%s -S ", c->opens ? "yes" : "no");
    if (c->control.n) {
        buf_add_shell(out, c->control);
        buf_addf(out, "/%.*s", SLICE_ARG(h->name));
    } else {
        buf_adds(out, "none");
    }
    buf_adds(out, " --");
    add_word(out, h->address);
    buf_adds(&script, "exec ");
    connector_script(c, &script);
    add_word(out, buf_slice(&script));
    out->full = out->full || script.full;
    buf_deinit(&script);
}

static void wrap_container(const struct connect_call *c, struct buf *out)
{
    buf_addf(out, "exec %s exec -i", c->host->connector->name);
    add_option(out, " --user ", c->host->user);
    add_word(out, c->host->container);
    buf_addc(out, ' ');
    connector_script(c, out);
}

static void wrap_kubectl(const struct connect_call *c, struct buf *out)
{
    buf_adds(out, "exec kubectl exec -i -q");
    add_option(out, " -n ", c->host->space);
    add_word(out, c->host->pod);
    add_option(out, " -c ", c->host->container);
    buf_adds(out, " -- ");
    connector_script(c, out);
}

/* outfox itself is the other end. */
static void wrap_agent(const struct connect_call *c, struct buf *out)
{
    const struct plan_host *h = c->host;
    struct buf script = BUF_INIT(CONNECT_TEXT_MAX), at = BUF_INIT(300);
    bool brackets = slice_find(h->address, ':') < h->address.n;
    unsigned port = h->port ? h->port : CONNECT_AGENT_PORT;
    buf_addf(&at, brackets ? "[%.*s]:%u" : "%.*s:%u", SLICE_ARG(h->address), port);
    buf_adds(&script, "exec ");
    connector_script(c, &script);
    buf_adds(out, "exec");
    add_word(out, c->program);
    buf_adds(out, " agent run");
    add_word(out, buf_slice(&at));
    add_word(out, h->token_file);
    buf_adds(out, h->ca.n ? " ca" : " fingerprint");
    add_word(out, h->ca.n ? h->ca : h->fingerprint);
    add_word(out, buf_slice(&script));
    out->full = out->full || script.full;
    buf_deinit(&script);
    buf_deinit(&at);
}

/* clang-format off */
const struct connector connectors[] = {
    {"local", "", "tags", "", NULL, "this machine", NULL},
    {"ssh", "address", "port user key known-hosts dir tags", "", "ssh",
     "the ssh program: one connection for each host and run; keys only, and hosts that are known", wrap_ssh},
    {"agent", "address token-file", "port dir tags", "ca fingerprint", NULL,
     "outfox agent, which runs there: TLS and a token", wrap_agent},
    {"podman", "container", "user dir tags", "", "podman", "podman exec: a container that runs", wrap_container},
    {"docker", "container", "user dir tags", "", "docker", "docker exec: a container that runs", wrap_container},
    {"kubectl", "pod", "namespace container dir tags", "", "kubectl", "kubectl exec: a pod that runs", wrap_kubectl},
};
/* clang-format on */
const size_t n_connectors = sizeof connectors / sizeof *connectors;

const struct connector *connector_find(slice name)
{
    for (size_t i = 0; i < n_connectors; i++)
        if (slice_is(name, connectors[i].name))
            return &connectors[i];
    return NULL;
}

int connector_wrap(const struct connect_call *c, struct buf *out)
{
    c->host->connector->wrap(c, out);
    add_input(c, out);
    return out->full || out->n > CONNECT_TEXT_MAX ? -1 : 0;
}

const char *connector_remedy(slice said)
{
    static const struct {
        const char *said, *remedy;
    } rows[] = {
        {"Host key verification failed",
         "the host's key is not in known-hosts, or is another one now: where it is to be trusted, "
         "add what ssh-keyscan prints"},
        {"REMOTE HOST IDENTIFICATION",
         "the host's key is another one now: where it is to be trusted, mend known-hosts"},
        {"Permission denied (",
         "the host does not take this key: add its public half to ~/.ssh/authorized_keys there"},
        {"Connection refused", "nobody listens there: start it, or mend address and port"},
        {"timed out", "the host does not answer: is it up, and is there no firewall between?"},
        {"No route to host", "the host cannot be reached: mend its address"},
        {"Could not resolve hostname", "nobody knows this name: mend its address"},
        {"no such container", "start the container, or mend container"},
        {"No such container", "start the container, or mend container"},
        {"is not running", "start the container"},
        {"container state improper", "start the container"},
        {"NotFound", "start the pod, or mend pod and namespace"},
        {"has ended, or was killed,", "start it again; then outfox doctor undoes what is left"},
        {"ssh: not found", "install the client of OpenSSH here"},
        {"podman: not found", "install podman here"},
        {"docker: not found", "install docker here"},
        {"kubectl: not found", "install kubectl here"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].said);
        for (size_t k = 0; k + n <= said.n; k++)
            if (memcmp(said.p + k, rows[i].said, n) == 0)
                return rows[i].remedy;
    }
    return "";
}
