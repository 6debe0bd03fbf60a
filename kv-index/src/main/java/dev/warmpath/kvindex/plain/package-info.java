/** The plain index: hash maps and small counters, correct first; the oracle for faster ones. */
@NullMarked
package dev.warmpath.kvindex.plain;

import org.jspecify.annotations.NullMarked;
