/**
 * The console's data: the last hour in numbers, the last decisions, the hottest prefixes, live.
 *
 * <p>Start with {@code Console}. {@code RecentDecisions} keeps each decision with the {@code
 * Choice} of its moment: what <i>Why?</i> shows through {@code admin.ExplainReport}, beside what
 * would be chosen today.
 */
@NullMarked
package dev.warmpath.router.console;

import org.jspecify.annotations.NullMarked;
