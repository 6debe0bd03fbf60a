/**
 * What is run by those who change Warmpath and shipped to nobody: benches, chaos, goldens, other
 * routers before the same fleet. Nothing depends on this module.
 *
 * <pre>{@code
 * Lab ─▶ router.cli.Main with BenchCommand ─▶ one Bench…Command ─▶ its bench ─▶ a report
 *                             ChaosCommand, CompareTokensCommand
 * }</pre>
 *
 * <p>Start with {@link Lab}, which adds its commands to the program, then {@code Lab.BenchCommand},
 * the list of benches. Each bench has a package of its own; {@code bench} has what they share.
 */
@NullMarked
package dev.warmpath.lab;

import org.jspecify.annotations.NullMarked;
