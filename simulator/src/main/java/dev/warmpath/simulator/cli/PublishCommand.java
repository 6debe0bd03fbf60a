package dev.warmpath.simulator.cli;

import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.transport.Descriptors;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.capture.CapturePublisher;
import dev.warmpath.simulator.capture.FaultyFeed;
import dev.warmpath.simulator.terminal.DurationText;
import dev.warmpath.simulator.terminal.ProgressFlag;
import dev.warmpath.simulator.terminal.ReadingProgress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZContext;
import org.zeromq.ZMQException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay publish}: sends a recorded stream over ZMQ again.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "publish",
    description = {
      "Publishes a recorded event stream over ZMQ, as its engine did.",
      "Prints the endpoints that it has bound, then one line when all is sent."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Example: warmpath replay publish vllm.wpc.gz --bind tcp://127.0.0.1:5557 \\",
      "           --replay-bind tcp://127.0.0.1:5657 --speed 10 --wait-for-subscribers 1"
    })
final class PublishCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(paramLabel = "FILE", description = "The capture file.")
  private Path file;

  @Option(
      names = "--bind",
      paramLabel = "ENDPOINT",
      description = "Where to publish; port 0 takes a free one. Default: ${DEFAULT-VALUE}.")
  private String bind = "tcp://127.0.0.1:0";

  @Option(
      names = "--replay-bind",
      paramLabel = "ENDPOINT",
      description = "Where to answer replays; without it nobody does.")
  private @Nullable String replayBind;

  @Option(
      names = "--speed",
      paramLabel = "X",
      description =
          "How many times faster than recorded; 0 as fast as possible. Default: ${DEFAULT-VALUE}.")
  private double speed = 1;

  @Option(
      names = "--wait-for-subscribers",
      paramLabel = "N",
      description = "Send nothing before N have subscribed. Default: ${DEFAULT-VALUE}.")
  private int subscribers;

  @Option(
      names = "--stream",
      paramLabel = "ID",
      description = "The stream to publish. Default: the file's first.")
  private @Nullable Integer stream;

  @Option(
      names = "--linger",
      paramLabel = "TIME",
      converter = DurationText.class,
      description = "How long to answer replays when all is sent, such as 30s. Default: 1s.")
  private Duration linger = Duration.ofSeconds(1);

  @Mixin private final FaultFlags faults = new FaultFlags();

  @Mixin private final ProgressFlag progress = new ProgressFlag();

  @Override
  public Integer call() {
    if (!(speed >= 0)) {
      throw CommandException.usage("--speed " + speed + ": must be at least 0");
    }
    try (ReadingProgress reading = progress.of(List.of(file), 1);
        CaptureReader capture = CaptureFiles.open(file, reading);
        ZContext context = Descriptors.context();
        CapturePublisher publisher = publisher(context)) {
      publish(capture, publisher, reading);
    } catch (IOException e) {
      throw CaptureFiles.failure(file, e);
    }
    return Exit.OK;
  }

  private void publish(CaptureReader capture, CapturePublisher publisher, ReadingProgress reading)
      throws IOException {
    int id = streamOf(capture);
    PrintWriter out = spec.commandLine().getOut();
    out.println("publishing on " + publisher.endpoint());
    if (publisher.replayEndpoint() != null) {
      out.println("answering replays on " + publisher.replayEndpoint());
    }
    out.flush();
    publisher.serve(() -> publisher.subscribers() >= subscribers);
    FaultyFeed feed = new FaultyFeed(faults.faults(), id);
    long published = publisher.publish(capture, id, speed, feed);
    reading.close();
    out.println("published " + published + " messages" + (feed.dropped() == 0 ? "" : lost(feed)));
    out.flush();
    long endNanos = System.nanoTime() + linger.toNanos();
    publisher.serve(() -> System.nanoTime() - endNanos >= 0);
  }

  private static String lost(FaultyFeed feed) {
    return ", " + feed.dropped() + " of them lost on the way";
  }

  private int streamOf(CaptureReader capture) {
    if (stream == null && !capture.header().streams().isEmpty()) {
      return capture.header().streams().get(0).id();
    }
    if (stream == null || capture.header().stream(stream).isEmpty()) {
      throw CommandException.failed("--stream " + stream + ": " + file + " has no such stream");
    }
    return stream;
  }

  private CapturePublisher publisher(ZContext context) {
    try {
      return new CapturePublisher(context, bind, replayBind, System::nanoTime);
    } catch (ZMQException | IllegalArgumentException e) {
      String endpoints = replayBind == null ? bind : bind + " and " + replayBind;
      throw CommandException.failed("cannot bind " + endpoints + ": " + e.getMessage());
    }
  }
}
