/** The command {@code warmpath bench fleet} and its flags. */
@NullMarked
package dev.warmpath.lab.cli.fleet;

import org.jspecify.annotations.NullMarked;
