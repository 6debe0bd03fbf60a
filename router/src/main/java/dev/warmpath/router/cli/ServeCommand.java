package dev.warmpath.router.cli;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.OutputStreamAppender;
import dev.warmpath.router.Environment;
import dev.warmpath.router.RehearsedStart;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.StartCheck;
import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.EnvironmentKeys;
import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.RouterConfig;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath serve}: runs the router until the process is told to end.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "serve",
    description = "Runs the router.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath serve --config warmpath.yaml",
      "  warmpath serve --config warmpath.yaml --check-config",
      "  warmpath serve --tokenizer qwen3=/models/qwen3 \\",
      "    --replica"
          + " a=http://127.0.0.1:8000,events=tcp://127.0.0.1:5557,replay=tcp://127.0.0.1:5657 \\",
      "    --replica"
          + " b=http://127.0.0.1:8001,events=tcp://127.0.0.1:5558,replay=tcp://127.0.0.1:5658"
    })
public final class ServeCommand implements WarmpathCommand {

  private static final Logger LOG = LoggerFactory.getLogger(ServeCommand.class);

  @Mixin private ServeFlags flags = new ServeFlags();

  @Option(
      names = "--check-config",
      description = "Check the configuration and the files that it names, and end.")
  private boolean checkConfig;

  @Option(
      names = "--until-ready",
      description = "End when it is ready: to see that it starts, or to make a class cache.")
  private boolean untilReady;

  @Override
  public Integer call() throws InterruptedException {
    RouterConfig config = config();
    List<String> warnings = new ArrayList<>(EnvironmentKeys.warnings(System.getenv()));
    warnings.addAll(StartCheck.warnings(config));
    if (checkConfig) {
      warnings.forEach(warning -> System.err.println("warning: " + warning));
      check(config);
      System.out.println("The Java heap is divided so:");
      System.out.println(MemoryBudget.of(config).table());
      System.out.println("The configuration is fine.");
      return Exit.OK;
    }
    if (config.log().format().equals("json")) {
      JsonLogging.enable();
    }
    warnings.forEach(LOG::warn);
    Thread.setDefaultUncaughtExceptionHandler(ServeCommand::uncaught);
    start(config);
    System.out.println("warmpath is ready");
    System.out.flush();
    if (!untilReady) {
      new CountDownLatch(1).await();
    }
    return Exit.OK;
  }

  /** Threads that a full heap has ended are missing for good: a supervisor has to begin anew. */
  private static void uncaught(Thread thread, Throwable failure) {
    LOG.error("the thread {} has ended", thread.getName(), failure);
    if (failure instanceof VirtualMachineError) {
      halt();
    }
  }

  /** No shutdown hook could do its work. */
  private static void halt() {
    System.err.println(
        "warmpath ends: its Java heap is full; raise it (WARMPATH_JAVA_OPTS=-Xmx4g)");
    Runtime.getRuntime().halt(Exit.NO_MEMORY);
  }

  private RouterConfig config() {
    try {
      return flags.config();
    } catch (ConfigException e) {
      throw CommandException.usage(String.join(System.lineSeparator(), e.problems()));
    }
  }

  private static void check(RouterConfig config) {
    try {
      StartCheck.check(config);
    } catch (StartException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private void start(RouterConfig config) {
    try {
      Path usual = DataDirectory.of(System.getenv(), System.getProperty("user.home"));
      Environment environment =
          Environment.ofTheMachine().keepingIn(usual).loading(flags).ending(ServeCommand::halt);
      RehearsedStart.start(config, environment, router -> listening(config, router));
    } catch (StartException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  private static void listening(RouterConfig config, RouterProcess router) {
    boolean unused = Hangup.handle(() -> router.reload("SIGHUP"));
    Runtime.getRuntime().addShutdownHook(new Thread(router::close, "warmpath-shutdown"));
    announce(config, router);
  }

  private static String address(RouterConfig.ListenTls tls, String host, int port) {
    String scheme = tls.tlsCert() == null ? "http" : "https";
    String shown = host.contains(":") ? "[" + host + "]" : host;
    return scheme + "://" + shown + ":" + port;
  }

  private static void announce(RouterConfig config, RouterProcess router) {
    System.out.printf(
        "warmpath listens on %s%n",
        address(config.listen().tls(), config.listen().host(), router.port()));
    System.out.printf(
        "  console  %s/admin/ui%n",
        address(config.admin().tls(), config.admin().host(), router.adminPort()));
    if (config.picker().port() > 0) {
      System.out.printf("  picker   port %d%n", config.picker().port());
    }
    System.out.printf("  policy   %s%n", config.policy().name());
    System.out.printf("  replicas %d%n", config.replicas().size());
    System.out.flush();
  }

  /**
   * Where a user's programs keep what is to outlive them.
   *
   * <p>Immutable.
   */
  public static final class DataDirectory {

    private static final String STATE_HOME = "XDG_STATE_HOME";

    private DataDirectory() {}

    /** Warmpath's: {@code $XDG_STATE_HOME/warmpath}, else {@code ~/.warmpath/data}. */
    public static Path of(Map<String, String> environment, String home) {
      String state = environment.getOrDefault(STATE_HOME, "");
      return state.isEmpty() ? Path.of(home, ".warmpath", "data") : Path.of(state, "warmpath");
    }
  }

  /** The signal by which operators have a process read its configuration anew. */
  static final class Hangup {

    private static final Logger LOG = LoggerFactory.getLogger(Hangup.class);

    private Hangup() {}

    /**
     * Runs {@code work} at each SIGHUP, on a thread of its own.
     *
     * @return false where that signal is not heard: not there, or ignored since before the process
     */
    public static boolean handle(Runnable work) {
      try { // no supported way to hear signals exists, and compilers hide this one
        Class<?> signal = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        Object handles =
            Proxy.newProxyInstance(
                handler.getClassLoader(),
                new Class<?>[] {handler},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("handle")) {
                    work.run();
                  }
                  return null;
                });
        Object before =
            signal
                .getMethod("handle", signal, handler)
                .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), handles);
        return !before.equals(handler.getField("SIG_IGN").get(null));
      } catch (ReflectiveOperationException | RuntimeException e) {
        LOG.warn("SIGHUP is not heard: {}", e.toString());
        return false;
      }
    }
  }

  /** The process' log as JSON. */
  static final class JsonLogging {

    private JsonLogging() {}

    /** From now on each line is a JSON object. */
    public static void enable() {
      LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
      Iterator<Appender<ILoggingEvent>> appenders =
          context.getLogger(Logger.ROOT_LOGGER_NAME).iteratorForAppenders();
      while (appenders.hasNext()) {
        if (appenders.next() instanceof OutputStreamAppender<ILoggingEvent> lines) {
          lines.setEncoder(encoder(context));
        }
      }
    }

    private static JsonEncoder encoder(LoggerContext context) {
      JsonEncoder encoder = new JsonEncoder();
      encoder.setContext(context);
      encoder.setWithSequenceNumber(false);
      encoder.setWithNanoseconds(false);
      encoder.setWithContext(false);
      encoder.setWithMessage(false);
      encoder.setWithArguments(false);
      encoder.setWithFormattedMessage(true);
      encoder.start();
      return encoder;
    }
  }
}
