/**
 * What is run by those who change Warmpath and shipped to nobody: benches, chaos, goldens, other
 * routers before the same fleet. {@link dev.warmpath.lab.Lab} adds its commands to the program;
 * nothing depends on this module.
 */
@NullMarked
package dev.warmpath.lab;

import org.jspecify.annotations.NullMarked;
