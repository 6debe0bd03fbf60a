package dev.warmpath.router.discovery.dns;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The domains in which a name that is not complete is looked for, as {@code resolv.conf} has them.
 *
 * <p>Immutable.
 *
 * @param dots a name with so many is tried as it is first
 */
record SearchPath(List<String> domains, int dots) {

  /** Names are taken as they are. */
  static final SearchPath NONE = new SearchPath(List.of(), 1);

  private static final Path SYSTEM = Path.of("/etc/resolv.conf");
  private static final int MAX_DOTS = 15;

  SearchPath {
    domains = List.copyOf(domains);
  }

  /** That of this machine; none if it has no {@code resolv.conf}. */
  static SearchPath ofTheSystem() {
    try {
      return parse(Files.readAllLines(SYSTEM));
    } catch (IOException e) {
      return NONE;
    }
  }

  /** The last {@code search} or {@code domain} counts, and the last {@code options ndots}. */
  static SearchPath parse(List<String> lines) {
    List<String> domains = List.of();
    int dots = 1;
    for (String line : lines) {
      List<String> words = Stream.of(line.strip().split("\\s+")).toList();
      switch (words.get(0)) {
        case "search", "domain" -> domains = words.subList(1, words.size());
        case "options" -> dots = dots(words, dots);
        default -> {}
      }
    }
    return new SearchPath(domains, dots);
  }

  private static int dots(List<String> words, int before) {
    return words.stream()
        .filter(word -> word.matches("ndots:[0-9]{1,3}"))
        .map(word -> Math.min(MAX_DOTS, Integer.parseInt(word.substring("ndots:".length()))))
        .reduce(before, (first, second) -> second);
  }

  /** The full names to try one after the other; each ends with a dot. */
  List<String> names(String name) {
    if (name.endsWith(".")) {
      return List.of(name);
    }
    List<String> names = new ArrayList<>();
    domains.forEach(domain -> names.add(name + "." + domain.replaceFirst("\\.$", "") + "."));
    boolean isTriedFirst = name.chars().filter(c -> c == '.').count() >= dots;
    names.add(isTriedFirst ? 0 : names.size(), name + ".");
    return names;
  }
}
