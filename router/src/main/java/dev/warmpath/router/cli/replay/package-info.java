/** The commands that work with capture files of event streams. */
@NullMarked
package dev.warmpath.router.cli.replay;

import org.jspecify.annotations.NullMarked;
