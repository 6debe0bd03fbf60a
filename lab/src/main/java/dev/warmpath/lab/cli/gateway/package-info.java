/** The command {@code warmpath bench gateway} and its flags. */
@NullMarked
package dev.warmpath.lab.cli.gateway;

import org.jspecify.annotations.NullMarked;
