/** How far long work has come, on a line of its own. */
@NullMarked
package dev.warmpath.router.cli.progress;

import org.jspecify.annotations.NullMarked;
