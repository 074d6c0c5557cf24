/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of failure plans. */
#ifndef OUTFOX_CMD_PLAN_H
#define OUTFOX_CMD_PLAN_H

#include "cmd/cmd.h"

int cmd_plan_run(const struct args *args);
int cmd_plan_init(const struct args *args);
int cmd_plan_convert(const struct args *args);
int cmd_plan_explore(const struct args *args);
int cmd_plan_show(const struct args *args);
int cmd_plan_check(const struct args *args);
int cmd_plan_report(const struct args *args);
int cmd_plan_faults(const struct args *args);
int cmd_plan_calls(const struct args *args);
int cmd_plan_fire(const struct args *args);
int cmd_plan_tell(const struct args *args);
int cmd_doctor(const struct args *args);
int cmd_agent(const struct args *args);

/* No verbs for people: what injectors and connectors write into command lines. The words behind them. */
int cmd_harm(int argc, char **argv);
int cmd_agent_run(int argc, char **argv);

#endif
