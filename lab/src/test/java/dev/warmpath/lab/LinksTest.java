package dev.warmpath.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The links of the documentation lead to files and headings that there are. */
final class LinksTest {

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path README = ROOT.resolve("README.md");

  private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *```");
  private static final Pattern CODE = Pattern.compile("`[^`\n]*`");
  private static final Pattern LINK =
      Pattern.compile("(?m)\\]\\(([^)\\s]+)\\)|^\\[[^\\]]+\\]: +(\\S+)$");
  private static final Pattern ELSEWHERE = Pattern.compile("[a-z][a-z0-9+.-]*:.*");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+)$");

  @Test
  void everyLinkLeadsToAFileAndAHeading() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path page : pages()) {
      String text = Files.readString(page);
      links += targets(text).size();
      broken.addAll(broken(page, text));
    }
    assertThat(links).isGreaterThan(300);
    assertThat(broken).isEmpty();
  }

  @Test
  void everyPageIsReachedFromTheReadme() throws IOException {
    Set<Path> reached = new HashSet<>();
    Deque<Path> next = new ArrayDeque<>(List.of(README));
    while (!next.isEmpty()) {
      Path page = next.remove();
      if (reached.add(page) && page.toString().endsWith(".md")) {
        for (String target : targets(Files.readString(page))) {
          Path file = file(page, target);
          if (Files.isRegularFile(file)) {
            next.add(file);
          }
        }
      }
    }
    assertThat(reached).containsAll(pages());
  }

  @Test
  void brokenLinksAreFound() throws IOException {
    String text =
        """
        # A page
        ## What `it` does, and why
        ## Twice
        ## Twice
        [here](#what-it-does-and-why), [second](#twice-1), [other](docs/metrics.md#what-to-look-at),
        [`code`](docs/metrics.md), [elsewhere](https://127.0.0.1/none#none), `[code](none)`
        ```
        # no heading
        [no link](none)
        ```
        [no file](docs/none.md), [no heading](docs/metrics.md#none), [not here](#no-heading),
        [no third](#twice-2), [outside](../none), [by name][name]

        [name]: docs/none.svg
        """;
    assertThat(broken(README, text))
        .containsExactly(
            "README.md: docs/none.md",
            "README.md: docs/metrics.md#none",
            "README.md: #no-heading",
            "README.md: #twice-2",
            "README.md: ../none",
            "README.md: docs/none.svg");
  }

  private static Set<Path> pages() throws IOException {
    Set<Path> pages = new TreeSet<>(List.of(README, ROOT.resolve("CHANGELOG.md")));
    try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
      files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
    }
    return pages;
  }

  private static List<String> broken(Path page, String text) throws IOException {
    List<String> broken = new ArrayList<>();
    for (String target : targets(text)) {
      Path file = file(page, target);
      int hash = target.indexOf('#');
      if (!file.startsWith(ROOT)
          || !Files.exists(file)
          || hash >= 0
              && !headings(file.equals(page) ? text : Files.readString(file))
                  .contains(target.substring(hash + 1))) {
        broken.add(ROOT.relativize(page) + ": " + target);
      }
    }
    return broken;
  }

  private static Path file(Path page, String target) {
    String path = target.replaceFirst("#.*", "");
    return path.isEmpty() ? page : page.resolveSibling(path).normalize();
  }

  /** Relative ones, as they are written. */
  private static List<String> targets(String text) {
    List<String> targets = new ArrayList<>();
    Matcher link = LINK.matcher(CODE.matcher(withoutExamples(text)).replaceAll(""));
    while (link.find()) {
      String target = link.group(1) != null ? link.group(1) : link.group(2);
      if (!ELSEWHERE.matcher(target).matches()) {
        targets.add(target);
      }
    }
    return targets;
  }

  /** The anchors of a page's headings, as web pages of repositories make them. */
  private static Set<String> headings(String text) {
    Set<String> anchors = new HashSet<>();
    Matcher heading = HEADING.matcher(withoutExamples(text));
    while (heading.find()) {
      String name =
          heading
              .group(1)
              .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^\\p{L}\\p{N} _-]", "")
              .strip()
              .replace(' ', '-');
      for (int again = 0; !anchors.add(again == 0 ? name : name + "-" + again); ) {
        again++;
      }
    }
    return anchors;
  }

  private static String withoutExamples(String text) {
    return FENCED.matcher(text).replaceAll("");
  }
}
