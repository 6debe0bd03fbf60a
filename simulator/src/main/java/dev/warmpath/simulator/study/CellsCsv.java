package dev.warmpath.simulator.study;

import java.util.ArrayList;
import java.util.List;

/** The cells of a study as CSV (RFC 4180): a line each, behind a header. Thread-safe. */
public final class CellsCsv {

  private CellsCsv() {}

  public static String of(List<ReportCell> cells) {
    StringBuilder text = new StringBuilder();
    List<String> header =
        new ArrayList<>(
            List.of("trace", "replicas", "kvTokens", "load", "rate", "index", "policy", "seeds"));
    for (Figure figure : Figure.values()) {
      header.add(figure.key());
      header.add(figure.key() + "Ci95");
    }
    header.addAll(
        List.of(
            "hostKvTokens",
            "requests",
            "infiniteHitRate",
            "poolHitRate",
            "routers",
            "routersBySession",
            "shareMs",
            "prefills",
            "splitRule",
            "transferMs",
            "transferTokenUs",
            "change"));
    add(text, header);
    cells.forEach(cell -> add(text, fields(cell)));
    return text.toString();
  }

  private static List<String> fields(ReportCell cell) {
    Cell of = cell.cell();
    List<String> fields = new ArrayList<>();
    fields.add(of.trace());
    fields.add(Integer.toString(of.replicas()));
    fields.add(Long.toString(of.kvTokens()));
    fields.add(number(of.load()));
    fields.add(number(of.rate()));
    fields.add(of.index().toString());
    fields.add(of.policy());
    fields.add(Integer.toString(cell.seeds()));
    for (Figure figure : Figure.values()) {
      fields.add(number(cell.mean(figure)));
      fields.add(number(cell.estimate(figure).confidence()));
    }
    fields.add(Long.toString(of.hostKvTokens()));
    fields.add(number(cell.requests()));
    fields.add(number(cell.oracle().infiniteHitRate()));
    fields.add(number(cell.oracle().poolHitRate()));
    fields.add(Integer.toString(of.routers().count()));
    fields.add(Boolean.toString(of.routers().bySession()));
    fields.add(of.routers().sharing().toString());
    fields.add(Integer.toString(of.pairs().prefills()));
    fields.add(of.pairs().rule());
    fields.add(number(of.pairs().link().fixedMillis()));
    fields.add(number(of.pairs().link().microsPerToken()));
    fields.add(of.change().toString());
    return fields;
  }

  private static String number(double value) {
    return Double.isNaN(value) ? "" : Double.toString(value);
  }

  private static void add(StringBuilder text, List<String> fields) {
    for (int i = 0; i < fields.size(); i++) {
      text.append(i == 0 ? "" : ",").append(quoted(fields.get(i)));
    }
    text.append("\r\n");
  }

  private static String quoted(String field) {
    return field.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
        ? '"' + field.replace("\"", "\"\"") + '"'
        : field;
  }
}
