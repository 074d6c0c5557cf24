/* SPDX-License-Identifier: Apache-2.0 */
#include "data/junit.h"

#include <expat.h>

struct report {
    XML_Parser parser;
    struct arena *arena;
    struct texts *tests;
    uint32_t most, depth;
    bool is_report;
    const char *refused; /* why the rest is not read; NULL: nothing is wrong */
};

static void refuse(struct report *r, const char *why)
{
    r->refused = r->refused ? r->refused : why;
    (void)XML_StopParser(r->parser, XML_FALSE);
}

/* Attributes are names and values in turn, and NULL. */
static slice attribute(const XML_Char **pairs, const char *name)
{
    for (; *pairs; pairs += 2)
        if (strcmp(pairs[0], name) == 0)
            return slice_of(pairs[1]);
    return SLICE("");
}

static void XMLCALL on_start(void *ctx, const XML_Char *element, const XML_Char **attributes)
{
    struct report *r = ctx;
    if (++r->depth > JUNIT_DEPTH_MAX)
        refuse(r, "its elements are nested too deep");
    r->is_report |= slice_starts(slice_of(element), SLICE("testsuite"));
    slice class = attribute(attributes, "classname"), name = attribute(attributes, "name");
    if (strcmp(element, "testcase") != 0 || !name.n || r->tests->n >= r->most)
        return;
    slice test = slice_of(arena_printf(r->arena, "%.*s%s%.*s", SLICE_ARG(class), class.n ? "#" : "",
                                       SLICE_ARG(name)));
    vec_push(r->tests, test);
}

static void XMLCALL on_end(void *ctx, const XML_Char *element)
{
    struct report *r = ctx;
    (void)element;
    r->depth--;
}

static void XMLCALL on_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    refuse(ctx, "it has a document type, which no report needs");
}

int junit_read(slice xml, uint32_t most, struct arena *a, struct texts *tests, struct err *e)
{
    if (xml.n > JUNIT_BYTES_MAX)
        return err_set(e, 0, 0, "it has more than %d MiB", JUNIT_BYTES_MAX >> 20);
    struct report r = {.parser = XML_ParserCreate(NULL), .arena = a, .tests = tests, .most = most};
    if (!r.parser)
        mem_oom();
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    enum XML_Status status = XML_Parse(r.parser, xml.n ? xml.p : "", (int)xml.n, XML_TRUE);
    if (status != XML_STATUS_OK && !r.refused)
        r.refused = XML_ErrorString(XML_GetErrorCode(r.parser));
    if (r.refused)
        err_set(e, (uint32_t)XML_GetCurrentLineNumber(r.parser),
                (uint32_t)XML_GetCurrentColumnNumber(r.parser) + 1, "it is not JUnit XML: %s",
                r.refused);
    else if (!r.is_report)
        err_set(e, 0, 0, "it is not JUnit XML: there is no <testsuite> in it");
    XML_ParserFree(r.parser);
    return r.refused || !r.is_report ? -1 : 0;
}
