package dev.warmpath.router.cli;

import java.util.concurrent.Callable;

/**
 * One subcommand of {@code warmpath}: a class with picocli's {@code @Command}, listed in its
 * module's {@code META-INF/services}.
 *
 * <p>{@link #call} gives the exit code: {@link Exit#OK}, {@link Exit#FAILED} or {@link Exit#USAGE}.
 * A {@link CommandException} is printed as one line and ends the program with its code. Confined to
 * the main thread.
 */
public interface WarmpathCommand extends Callable<Integer> {}
