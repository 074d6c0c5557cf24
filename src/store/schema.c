/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a campaign file.
 *
 * 1. Tables with many rows have no rowid: rows of one campaign stand together in the order in which
 *    they are read, and a run touches one page per table.
 * 2. `sum` is a hash of what stands in the row (in run: also of its calls), so that flipped bits
 *    are noticed when it is read.
 * 3. A point is kept once per campaign: its last element, and the point above it (0: none), whose
 *    id is smaller.
 * 4. `previous` is the number of the run before (0: none), so that a run that is missing is
 *    noticed.
 * 5. Views are for people; the program does not use them. */
#include "store/store_int.h"

static const char version_1[] =
    "CREATE TABLE campaign(\n"
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  scenario TEXT NOT NULL UNIQUE,\n"
    "  began_ns INTEGER NOT NULL);\n"
    "CREATE TABLE fact(\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign,\n"
    "  name TEXT NOT NULL,\n"
    "  value TEXT NOT NULL,\n"
    "  sum INTEGER NOT NULL,\n"
    "  PRIMARY KEY(campaign, name)) WITHOUT ROWID;\n"
    "CREATE TABLE point(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign,\n"
    "  parent INTEGER NOT NULL,\n"
    "  element TEXT NOT NULL,\n"
    "  sum INTEGER NOT NULL,\n"
    "  UNIQUE(campaign, parent, element));\n"
    "CREATE TABLE run(\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign,\n"
    "  number INTEGER NOT NULL,\n"
    "  previous INTEGER NOT NULL,\n"
    "  purpose TEXT NOT NULL,\n"
    "  flags TEXT NOT NULL,\n"
    "  faultload TEXT NOT NULL,\n"
    "  pass INTEGER NOT NULL,\n"
    "  status TEXT NOT NULL,\n"
    "  why TEXT NOT NULL,\n"
    "  detail TEXT,\n"
    "  event TEXT,\n"
    "  body BLOB NOT NULL,\n"
    "  wall_ns INTEGER NOT NULL,\n"
    "  took_ns INTEGER NOT NULL,\n"
    "  calls INTEGER NOT NULL,\n"
    "  sum INTEGER NOT NULL,\n"
    "  PRIMARY KEY(campaign, number)) WITHOUT ROWID;\n"
    "CREATE TABLE call(\n"
    "  campaign INTEGER NOT NULL,\n"
    "  run INTEGER NOT NULL,\n"
    "  n INTEGER NOT NULL,\n"
    "  parent INTEGER,\n"
    "  point INTEGER,\n"
    "  mode TEXT,\n"
    "  fault_point INTEGER,\n"
    "  seen TEXT NOT NULL,\n"
    "  handled INTEGER NOT NULL,\n"
    "  reply TEXT NOT NULL,\n"
    "  flags TEXT NOT NULL,\n"
    "  start_ns INTEGER NOT NULL,\n"
    "  end_ns INTEGER NOT NULL,\n"
    "  PRIMARY KEY(campaign, run, n)) WITHOUT ROWID;\n"
    "CREATE TABLE finding(\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign,\n"
    "  id INTEGER NOT NULL,\n"
    "  state TEXT NOT NULL,\n"
    "  why TEXT NOT NULL,\n"
    "  faultload TEXT NOT NULL,\n"
    "  sum INTEGER NOT NULL,\n"
    "  PRIMARY KEY(campaign, id)) WITHOUT ROWID;\n"
    "CREATE VIEW path AS\n"
    "  WITH RECURSIVE above(id, campaign, name) AS (\n"
    "    SELECT id, campaign, element FROM point WHERE parent = 0\n"
    "    UNION ALL\n"
    "    SELECT p.id, p.campaign, a.name || ' > ' || p.element\n"
    "    FROM point p JOIN above a ON p.campaign = a.campaign AND p.parent = a.id)\n"
    "  SELECT id AS point, name FROM above;\n"
    "CREATE VIEW calls AS\n"
    "  SELECT scenario, run, n, parent, substr(element, 1, instr(element, ' ') - 1) AS service,\n"
    "    element, mode, seen, handled, reply, flags, (end_ns - start_ns) / 1e6 AS ms, point\n"
    "  FROM call JOIN campaign ON campaign.id = call.campaign\n"
    "  LEFT JOIN (SELECT id, element FROM point) AS p ON p.id = call.point;\n";

/* What a call asked for. NULL, as in rows of version 1: not known, and not part of the sum. */
static const char version_2[] = "ALTER TABLE call ADD COLUMN request INTEGER;\n"
                                "ALTER TABLE call ADD COLUMN key INTEGER;\n";

/* What the client of a command received of a call of its own; NULL: not kept, likewise. */
static const char version_3[] = "ALTER TABLE call ADD COLUMN answer BLOB;\n";

/* What later campaigns learn from (journal.h). */
static const char version_4[] = "CREATE TABLE journal(\n"
                                "  campaign INTEGER NOT NULL REFERENCES campaign,\n"
                                "  n INTEGER NOT NULL,\n"
                                "  last INTEGER NOT NULL,\n"
                                "  bytes BLOB NOT NULL,\n"
                                "  sum INTEGER NOT NULL,\n"
                                "  PRIMARY KEY(campaign, n)) WITHOUT ROWID;\n";

static const char *const steps[] = {version_1, version_2, version_3, version_4};

const struct schema schema_newest = {steps, sizeof steps / sizeof *steps};
