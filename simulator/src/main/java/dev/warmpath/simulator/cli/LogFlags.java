package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.simulator.trace.LoggedRequest;
import dev.warmpath.simulator.trace.TraceException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Which records of which decision log.
 *
 * <p>Confined to the main thread.
 */
final class LogFlags {

  @Parameters(paramLabel = "LOG", description = "A router's decision log; may be gzipped.")
  private Path log = Path.of("");

  @Option(names = "--model", description = "The model, if the log has several.")
  private @Nullable String model;

  Path file() {
    return log;
  }

  List<LoggedRequest> read() {
    try {
      return ofOneModel(LoggedRequest.readAll(log));
    } catch (NoSuchFileException e) {
      throw CommandException.usage(log + ": no such file");
    } catch (IOException e) {
      throw CommandException.failed(log + ": " + e);
    } catch (TraceException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  private List<LoggedRequest> ofOneModel(List<LoggedRequest> all) {
    Set<String> models =
        all.stream()
            .filter(LoggedRequest::isReplayable)
            .map(LoggedRequest::model)
            .filter(Objects::nonNull)
            .collect(Collectors.toCollection(TreeSet::new));
    if (model == null) {
      if (models.size() > 1) {
        throw CommandException.usage(
            log + ": several models, choose one by --model: " + String.join(", ", models));
      }
      return all;
    }
    if (!models.contains(model)) {
      throw CommandException.usage(
          "--model: '%s' is not in %s: %s".formatted(model, log, String.join(", ", models)));
    }
    return all.stream().filter(request -> model.equals(request.model())).toList();
  }
}
