// SPDX-License-Identifier: GPL-2.0-only
typedef int word_t;
inline word_t SEVEN = 7;
