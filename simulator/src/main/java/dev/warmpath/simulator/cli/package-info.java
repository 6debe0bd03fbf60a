/**
 * The commands beside those of a serving router: demo, simulate, engine, check-live, capture,
 * replay, tokenize.
 *
 * <pre>{@code
 * router.cli.Main ─▶ a …Command with its …Flags ─▶ the package that does the work ─▶ text, JSON
 * }</pre>
 *
 * <p>Start with the command in question: {@link DemoCommand}, {@link SimulateCommand} (plan, fit,
 * compare), {@link EngineCommand}, {@link CheckLiveCommand}, {@link CaptureCommand}, {@link
 * ReplayCommand} (verify, cut, merge, diff, publish, stats, inspect), {@link TokenizeCommand}. They
 * read flags and write text or JSON; the work is in other packages. Those seven are found through
 * {@code META-INF/services}, the rest are their subcommands.
 */
@NullMarked
package dev.warmpath.simulator.cli;

import org.jspecify.annotations.NullMarked;
