package dev.warmpath.simulator.study;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.engine.Link;
import dev.warmpath.simulator.fleet.Change;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Pairs;
import dev.warmpath.simulator.fleet.Routers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The cells of a study as JSON: {@code {"cells": [{"trace", "replicas", "kvTokens", "load",
 * "index", "policy", "ttftMs": {"mean", "p50", "p90", "p99", "ci95"}, "tpotMs", "hitRate",
 * "goodput", "imbalance", …}], "speed": {"requestsPerSecond", "replicas", "maxHeapMb", …}, "setup":
 * {…}}}. Numbers that are not known are null: {@code load} if rates were given, confidence with one
 * seed.
 *
 * <p>Thread-safe.
 */
public final class CellsJson {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Map<Figure, String> TTFT =
      new EnumMap<>(
          Map.of(
              Figure.TTFT_MEAN, "mean",
              Figure.TTFT_P50, "p50",
              Figure.TTFT_P90, "p90",
              Figure.TTFT_P99, "p99"));
  private static final List<Figure> PLAIN =
      List.of(
          Figure.TPOT,
          Figure.HIT_RATE,
          Figure.GOODPUT,
          Figure.IMBALANCE,
          Figure.PREDICTED_MINUS_ACTUAL,
          Figure.REJECTED,
          Figure.SESSIONS,
          Figure.HOST_HIT_RATE,
          Figure.LOAD_MEAN,
          Figure.ANSWER_MEAN,
          Figure.ANSWER_P99,
          Figure.SPLIT,
          Figure.UNCACHED_NEW,
          Figure.UNCACHED_EVICTED,
          Figure.UNCACHED_ELSEWHERE,
          Figure.UNCACHED_LOST,
          Figure.UNCACHED_MISPREDICTED);

  /** What older files do not have. */
  private static final Set<Figure> LATER =
      EnumSet.copyOf(PLAIN.subList(PLAIN.indexOf(Figure.HOST_HIT_RATE), PLAIN.size()));

  private CellsJson() {}

  public static ObjectNode of(StudyReport report) {
    ObjectNode root = MAPPER.createObjectNode();
    report.cells().forEach(cell -> put(root.withArray("cells").addObject(), cell));
    StudyReport.Speed speed = report.speed();
    root.putObject("speed")
        .put("requestsPerSecond", Math.round(speed.requestsPerSecond()))
        .put("replicas", speed.replicas())
        .put("maxHeapMb", speed.maxHeapMb())
        .put("requests", speed.requests())
        .put("seconds", Math.round(speed.seconds() * 1e3) / 1e3)
        .put("threads", speed.threads());
    StudyReport.Setup setup = report.setup();
    root.putObject("setup")
        .put("command", setup.command())
        .put("traceRequests", setup.traceRequests())
        .put("copies", setup.copies())
        .put("seeds", setup.seeds())
        .put("warmUp", setup.warmUp())
        .put("cost", setup.cost());
    put((ObjectNode) root.get("setup"), "changeSeconds", setup.changeSeconds());
    return root;
  }

  private static void put(ObjectNode to, ReportCell cell) {
    to.put("trace", cell.cell().trace())
        .put("replicas", cell.cell().replicas())
        .put("kvTokens", cell.cell().kvTokens());
    put(to, "load", cell.cell().load());
    to.put("index", cell.cell().index().toString()).put("policy", cell.cell().policy());
    ObjectNode ttft = to.putObject("ttftMs");
    TTFT.forEach((figure, name) -> put(ttft, name, cell.mean(figure)));
    put(ttft, "ci95", cell.estimate(Figure.TTFT_MEAN).confidence());
    PLAIN.forEach(figure -> put(to, figure.key(), cell.mean(figure)));
    put(to, "rate", cell.cell().rate());
    to.put("hostKvTokens", cell.cell().hostKvTokens());
    Routers routers = cell.cell().routers();
    to.put("routers", routers.count())
        .put("routersBySession", routers.bySession())
        .put("shareMs", routers.sharing().toString());
    Pairs pairs = cell.cell().pairs();
    to.put("prefills", pairs.prefills())
        .put("splitRule", pairs.rule())
        .put("transferMs", pairs.link().fixedMillis())
        .put("transferTokenUs", pairs.link().microsPerToken());
    to.put("change", cell.cell().change().toString());
    to.put("seeds", cell.seeds());
    put(to, "requests", cell.requests());
    ObjectNode confidence = to.putObject("ci95");
    for (Figure figure : Figure.values()) {
      put(confidence, figure.key(), cell.estimate(figure).confidence());
    }
    put(to, "infiniteHitRate", cell.oracle().infiniteHitRate());
    put(to, "poolHitRate", cell.oracle().poolHitRate());
    if (!cell.minutes().isEmpty()) {
      ArrayNode seeds = to.putArray("ttftBySeedMs");
      cell.ttftBySeed().forEach(seeds::add);
      ArrayNode minutes = to.putArray("minutes");
      cell.minutes().forEach(minute -> put(minutes.addObject(), minute));
    }
  }

  private static void put(ObjectNode to, ReportCell.ReportMinute minute) {
    to.put("minute", minute.minute());
    put(to, "requests", minute.requests().mean());
    ObjectNode ttft = to.putObject("ttftMs");
    put(ttft, "mean", minute.mean().mean());
    put(ttft, "p90", minute.p90().mean());
    put(ttft, "p99", minute.p99().mean());
    put(ttft, "ci95", minute.mean().confidence());
    put(to, "hitRate", minute.hitRate().mean());
  }

  private static void put(ObjectNode to, String name, double value) {
    if (Double.isNaN(value)) {
      to.putNull(name);
    } else {
      to.put(name, value);
    }
  }

  /**
   * Reads the cells of a file again.
   *
   * @throws IOException naming the file and the cell if it cannot be read or is none such
   */
  public static List<ReportCell> read(Path file) throws IOException {
    JsonNode list = tree(file).path("cells");
    if (!list.isArray()) {
      throw new IOException(file + ": no list 'cells'");
    }
    List<ReportCell> cells = new ArrayList<>();
    for (JsonNode cell : list) {
      try {
        cells.add(cell(cell));
      } catch (IllegalArgumentException e) {
        throw new IOException(file + ": cell " + cells.size() + ": " + e.getMessage(), e);
      }
    }
    return cells;
  }

  private static JsonNode tree(Path file) throws IOException {
    try {
      return MAPPER.readTree(Files.readAllBytes(file));
    } catch (NoSuchFileException e) {
      throw new IOException("no such file: " + file, e);
    } catch (JsonProcessingException e) {
      throw new IOException(file + ": no JSON: " + e.getOriginalMessage(), e);
    }
  }

  private static ReportCell cell(JsonNode node) {
    Map<Figure, Estimate> figures = new EnumMap<>(Figure.class);
    JsonNode confidence = node.path("ci95");
    TTFT.forEach((figure, name) -> {
      double own = number(confidence, figure.key());
      figures.put(figure, new Estimate(number(node.path("ttftMs"), name), own));
    });
    for (Figure figure : PLAIN) {
      boolean known = !LATER.contains(figure) || node.has(figure.key());
      figures.put(
          figure,
          known
              ? new Estimate(number(node, figure.key()), number(confidence, figure.key()))
              : new Estimate(0, Double.NaN));
    }
    return new ReportCell(
        new Cell(
            text(node, "trace"),
            (int) number(node, "replicas"),
            (long) number(node, "kvTokens"),
            node.has("hostKvTokens") ? (long) number(node, "hostKvTokens") : 0,
            number(node, "load"),
            number(node, "rate"),
            IndexMode.parse(text(node, "index")),
            text(node, "policy"),
            routers(node),
            pairs(node),
            node.has("change")
                ? Change.parse(text(node, "change"), (int) number(node, "replicas"))
                : Change.NONE),
        (int) number(node, "seeds"),
        number(node, "requests"),
        figures,
        new Oracle(number(node, "infiniteHitRate"), number(node, "poolHitRate")),
        List.of(),
        List.of());
  }

  /** One, where that was written before there could be several. */
  private static Routers routers(JsonNode node) {
    return node.has("routers")
        ? new Routers(
            (int) number(node, "routers"),
            node.path("routersBySession").asBoolean(),
            Routers.Sharing.parse(text(node, "shareMs")))
        : Routers.ONE;
  }

  private static Pairs pairs(JsonNode node) {
    return node.has("splitRule")
        ? new Pairs(
            (int) number(node, "prefills"),
            text(node, "splitRule"),
            new Link(number(node, "transferMs"), number(node, "transferTokenUs")))
        : Pairs.NONE;
  }

  private static String text(JsonNode node, String field) {
    JsonNode value = node.path(field);
    if (!value.isTextual()) {
      throw new IllegalArgumentException("'" + field + "' is no string");
    }
    return value.textValue();
  }

  /** NaN for null. */
  private static double number(JsonNode node, String field) {
    JsonNode value = node.path(field);
    if (!value.isNumber() && !value.isNull()) {
      throw new IllegalArgumentException("'" + field + "' is no number");
    }
    return value.isNull() ? Double.NaN : value.doubleValue();
  }
}
