package dev.warmpath.router.cli;

import dev.warmpath.router.Environment;
import dev.warmpath.router.RehearsedStart;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.StartCheck;
import dev.warmpath.router.StartException;
import dev.warmpath.router.cli.serve.Hangup;
import dev.warmpath.router.cli.serve.JsonLogging;
import dev.warmpath.router.cli.serve.ServeFlags;
import dev.warmpath.router.config.EnvironmentKeys;
import dev.warmpath.router.config.ListenTls;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.config.read.ConfigException;
import dev.warmpath.router.snapshot.DataDirectory;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
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
    EnvironmentKeys.warnings(System.getenv()).forEach(System.err::println);
    RouterConfig config = config();
    if (checkConfig) {
      check(config);
      System.out.println("The configuration is fine.");
      return Exit.OK;
    }
    if (config.log().format().equals("json")) {
      JsonLogging.enable();
    }
    RouterProcess router = start(config);
    boolean unused = Hangup.handle(() -> router.reload("SIGHUP"));
    Runtime.getRuntime().addShutdownHook(new Thread(router::close, "warmpath-shutdown"));
    announce(config, router);
    if (!untilReady) {
      new CountDownLatch(1).await();
    }
    return Exit.OK;
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

  private RouterProcess start(RouterConfig config) {
    try {
      Path usual = DataDirectory.of(System.getenv(), System.getProperty("user.home"));
      return RehearsedStart.start(
          config, Environment.ofTheMachine().keepingIn(usual).loading(flags));
    } catch (StartException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  private static String scheme(ListenTls tls) {
    return tls.tlsCert() == null ? "http" : "https";
  }

  private static void announce(RouterConfig config, RouterProcess router) {
    String host = config.listen().host();
    System.out.printf(
        "warmpath listens on %s://%s:%d%n", scheme(config.listen().tls()), host, router.port());
    System.out.printf(
        "  console  %s://%s:%d/admin/ui%n",
        scheme(config.admin().tls()), config.admin().host(), router.adminPort());
    System.out.printf("  policy   %s%n", config.policy().name());
    System.out.printf("  replicas %d%n", config.replicas().size());
    System.out.flush();
  }
}
