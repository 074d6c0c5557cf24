/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox harm KIND WORD...: the commands of injectors call it (harm/harm.h). It is not for people: no
 * help lists it, and its words may change.
 *
 * 0: done; 1: it could not be done, and the last line of stderr says why. */
#include "harm/harm.h"
#include "cmd/plan.h"

int cmd_harm(int argc, char **argv)
{
    struct err e = {0};
    struct buf said = BUF_INIT(1 << 16);
    const struct harm_row *r = argc ? harm_find(argv[0]) : NULL;
    if (!r) {
        fprintf(stderr,
                "outfox: harm: this program does not know \"%s\": is it as new as the one that "
                "runs the plan?\n",
                argc ? argv[0] : "");
        return EXIT_USAGE;
    }
    int status = r->run(argc - 1, argv + 1, &said, &e);
    if (status)
        fprintf(stderr, "outfox: harm %s: %s\n", r->kind, e.text);
    else if (said.n)
        (void)fwrite(said.p, 1, said.n, stdout);
    buf_deinit(&said);
    return status ? 1 : 0;
}
