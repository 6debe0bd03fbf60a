/** The chaos run: a router over real sockets while engines and clients misbehave. */
@NullMarked
package dev.warmpath.lab.chaos;

import org.jspecify.annotations.NullMarked;
