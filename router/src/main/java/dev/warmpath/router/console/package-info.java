/** The console's data: the last hour in numbers, the last decisions, the hottest prefixes, live. */
@NullMarked
package dev.warmpath.router.console;

import org.jspecify.annotations.NullMarked;
