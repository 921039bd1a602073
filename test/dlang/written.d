/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes of written.c. */
provider test_prov {
	probe go();
	probe stop(int a, char *s);
	probe u_nder(const char *);
	probe d__ash(char **, string, uint8_t, int (*f)(int));
	probe place(int i, int j) : (int j, int i, int i, int j);
	probe none(int i) : ();
	probe many(long, long, long, long, long, long, long, long, long, unsigned int, long, long);
};
provider other { probe go(void); };
