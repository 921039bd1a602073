#include "live.h"
int live_open(struct engine *e, const live_exports *x, struct source **o, struct ki_err *err)
{
	(void)e;
	(void)x;
	(void)o;
	return ki_err_set(err, -38, 0, "not yet");
}
