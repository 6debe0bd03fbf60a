/** Clients of a chaos run, good and bad, and the check of every answer they get. */
@NullMarked
package dev.warmpath.lab.chaos.client;

import org.jspecify.annotations.NullMarked;
