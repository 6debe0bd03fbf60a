/** The bench commands. */
@NullMarked
package dev.warmpath.lab.cli.bench;

import org.jspecify.annotations.NullMarked;
