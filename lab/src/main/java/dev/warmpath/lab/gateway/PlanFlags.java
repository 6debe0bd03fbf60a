package dev.warmpath.lab.gateway;

import dev.warmpath.router.cli.CommandException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The flags that say what is measured, and for how long.
 *
 * <p>Confined to the main thread.
 */
final class PlanFlags {

  private static final String NO_CELLS = "none";
  private static final GatewayPlan USUAL = new GatewayPlan(GatewayCell.all(), 3, 20, 3, 15, 10, 20);
  private static final GatewayPlan SHORT =
      new GatewayPlan(GatewayCell.all().subList(0, 3), 1, 0.5, 0.5, 1, 1, 1);

  @Option(
      names = "--cells",
      split = ",",
      paramLabel = "CELL",
      description = {
        "SIZE-SHAPE of 2k, 16k, 400k and plain, sse-paced, sse-burst; or none. All by default.",
      })
  private List<String> cells = new ArrayList<>();

  @Option(
      names = "--rate",
      paramLabel = "CELL=N",
      description = "Requests a second in a cell; may be repeated.")
  private Map<String, Double> rates = new LinkedHashMap<>();

  @Option(names = "--rounds", description = "Turns of each gateway in each cell (3).")
  private @Nullable Integer rounds;

  @Option(names = "--seconds", description = "Measured part of a turn (15).")
  private @Nullable Double measured;

  @Option(names = "--lead-in", paramLabel = "SECONDS", description = "Load before it (3).")
  private @Nullable Double leadIn;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description = "Of 1,000 plain chats a second through each gateway before all rounds (20).")
  private @Nullable Double warmUp;

  @Option(
      names = "--cold",
      paramLabel = "SECONDS",
      description = "Load on a router that has just started (10); 0: none.")
  private @Nullable Double cold;

  @Option(
      names = "--idle",
      paramLabel = "SECONDS",
      description = "Of a router without requests (20); 0: none.")
  private @Nullable Double idle;

  @Option(
      names = "--short",
      description = "One round of a second in the cells of 2k, for a look whether all works.")
  private boolean brief;

  GatewayPlan plan() {
    GatewayPlan usual = brief ? SHORT : USUAL;
    try {
      return new GatewayPlan(
          cells(usual.cells()),
          or(rounds, usual.rounds()),
          or(warmUp, usual.warmUp()),
          or(leadIn, usual.leadIn()),
          or(measured, usual.measured()),
          or(cold, usual.cold()),
          or(idle, usual.idle()));
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private List<GatewayCell> cells(List<GatewayCell> usual) {
    Map<String, GatewayCell> known =
        GatewayCell.all().stream()
            .collect(
                Collectors.toMap(GatewayCell::name, cell -> cell, (a, b) -> a, LinkedHashMap::new));
    for (Map.Entry<String, Double> rate : rates.entrySet()) {
      known.put(rate.getKey(), named(known, rate.getKey()).at(rate.getValue()));
    }
    if (cells.equals(List.of(NO_CELLS))) {
      return List.of();
    }
    List<String> names = cells.isEmpty() ? usual.stream().map(GatewayCell::name).toList() : cells;
    return names.stream().distinct().map(name -> named(known, name)).toList();
  }

  private static GatewayCell named(Map<String, GatewayCell> known, String name) {
    GatewayCell cell = known.get(name);
    if (cell == null) {
      throw CommandException.usage("no cell '%s'; there are %s".formatted(name, known.keySet()));
    }
    return cell;
  }

  private static <T> T or(@Nullable T given, T usual) {
    return given == null ? usual : given;
  }
}
