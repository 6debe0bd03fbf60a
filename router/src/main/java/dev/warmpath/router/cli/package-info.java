/**
 * The program {@code warmpath} and the commands of a serving router: serve, explain, fleet, doctor,
 * keys, version.
 *
 * <pre>{@code
 * Main ─▶ every WarmpathCommand on the class path (ServiceLoader) ─▶ picocli ─▶ call() ─▶ Exit
 * flags, environment, file ─▶ ServeFlags ─▶ RouterConfig ─▶ ServeCommand ─▶ RouterProcess
 * }</pre>
 *
 * <p>Start with {@link Main}, then {@link ServeCommand}. A new command is a {@link WarmpathCommand}
 * with a line in its module's {@code META-INF/services}; {@code simulator.cli} adds its own that
 * way. {@link CommandException} ends a command with one line that names what is wrong. Commands
 * that ask a running router do so through {@link AdminPort}.
 */
@NullMarked
package dev.warmpath.router.cli;

import org.jspecify.annotations.NullMarked;
