package dev.warmpath.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The ways that docs/architecture.md shows are those of the code, and short: each class that a way
 * names exists and is used by one that it names before.
 */
final class WaysTest {

  private static final int MOST_CLASSES = 25;
  private static final int MOST_FORMS = 4;

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.warmpath");

  /** A row of the floor plan: the package, and the class to start at. */
  private static final Pattern ROOM = Pattern.compile("\\| `([a-z.]+)` \\| .* \\| `(\\w+)` \\|");

  private static final Pattern NAME = Pattern.compile("`([A-Z]\\w*)`");

  private static final Pattern DRAWING = Pattern.compile("(?s)<pre>\\{@code(.*?)</pre>");
  private static final Pattern TWO_WORDS = Pattern.compile("\\b(?:[A-Z][a-z0-9]+){2,}\\b");

  /** Names in drawings that are of others. */
  private static final Set<String> FOREIGN = Set.of("MessagePack", "ServiceLoader");

  @ParameterizedTest
  @ValueSource(strings = {"One request", "One replica", "One event", "One study"})
  void wayIsAsItIsWritten(String title) throws IOException {
    List<String> way = List.copyOf(named(title));
    assertThat(way).hasSizeBetween(10, MOST_CLASSES);
    for (int i = 0; i < way.size(); i++) {
      Set<JavaClass> here = classes(way.get(i));
      assertThat(here).as(way.get(i)).isNotEmpty();
      Set<JavaClass> before =
          way.subList(0, i).stream()
              .flatMap(name -> classes(name).stream())
              .collect(Collectors.toSet());
      assertThat(i == 0 || isUsed(here, before))
          .as("`%s` is used by one of %s", way.get(i), way.subList(0, i))
          .isTrue();
    }
  }

  /** Whoever keeps what was said of one replica is on its way, and most of all its forms. */
  @Test
  void replicaHasFewForms() throws IOException {
    List<String> forms =
        rows("One replica").stream()
            .map(row -> names(row.split("\\|")[3]))
            .flatMap(Set::stream)
            .toList();
    assertThat(forms)
        .hasSizeLessThanOrEqualTo(MOST_FORMS)
        .startsWith("ReplicaConfig")
        .endsWith("EngineState");
    assertThat(
            CLASSES.stream()
                .filter(type -> type.getPackageName().endsWith(".router.members"))
                .flatMap(type -> type.getFields().stream())
                .filter(field -> field.getRawType().getSimpleName().equals("ReplicaConfig"))
                .map(field -> outermost(field.getOwner())))
        .isNotEmpty()
        .isSubsetOf(named("One replica"));
  }

  @Test
  void whatIsNamedExists() throws IOException {
    assertThat(named("Beside these ways"))
        .hasSizeGreaterThan(10)
        .allSatisfy(name -> assertThat(classes(name)).as(name).isNotEmpty());
  }

  /** Each room has one row, and what it begins with is in it. */
  @Test
  void floorPlanIsThatOfTheCode() throws IOException {
    Map<String, String> starts = new TreeMap<>();
    String module = "";
    for (String line : section("Floor plan").lines().toList()) {
      Matcher row = ROOM.matcher(line);
      if (line.startsWith("### ")) {
        module = "dev.warmpath." + line.substring(4).replace("-", "");
      } else if (row.matches()) {
        String room = row.group(1);
        starts.put(module.endsWith("." + room) ? module : module + "." + room, row.group(2));
      }
    }
    assertThat(starts.keySet())
        .containsExactlyInAnyOrderElementsOf(
            CLASSES.stream()
                .filter(type -> !type.getSimpleName().equals("package-info"))
                .map(JavaClass::getPackageName)
                .collect(Collectors.toSet()));
    starts.forEach((room, start) ->
        assertThat(CLASSES.contain(room + "." + start)).as(room + "." + start).isTrue());
  }

  /** What looks like the name of a type in a package's drawing is one. */
  @Test
  void packageDrawingsNameTypesThatThereAre() throws IOException {
    Set<String> types = CLASSES.stream().map(JavaClass::getSimpleName).collect(Collectors.toSet());
    int drawings = 0;
    Set<String> unknown = new TreeSet<>();
    for (Path file : packageDescriptions()) {
      Matcher drawing = DRAWING.matcher(Files.readString(file));
      while (drawing.find()) {
        drawings++;
        Matcher name = TWO_WORDS.matcher(drawing.group(1));
        while (name.find()) {
          if (!types.contains(name.group()) && !FOREIGN.contains(name.group())) {
            unknown.add(file.getParent() + ": " + name.group());
          }
        }
      }
    }
    assertThat(drawings).isGreaterThan(50);
    assertThat(unknown).isEmpty();
  }

  private static List<Path> packageDescriptions() throws IOException {
    try (Stream<Path> files =
        Files.find(
            Path.of(".."),
            20,
            (file, is) ->
                file.endsWith("package-info.java")
                    && file.toString().contains("/src/main/java/"))) {
      return files.toList();
    }
  }

  private static String outermost(JavaClass type) {
    return type.getEnclosingClass().map(WaysTest::outermost).orElseGet(type::getSimpleName);
  }

  /** The classes that the table of a section names. */
  private static Set<String> named(String title) throws IOException {
    return names(String.join("\n", rows(title)));
  }

  private static List<String> rows(String title) throws IOException {
    return section(title).lines().filter(row -> row.startsWith("| ")).toList();
  }

  private static String section(String title) throws IOException {
    String page = Files.readString(Path.of("..", "docs", "architecture.md"));
    String section = page.substring(page.indexOf("## " + title));
    return section.substring(0, section.indexOf("\n## ", 1));
  }

  private static Set<String> names(String text) {
    Set<String> names = new LinkedHashSet<>();
    Matcher name = NAME.matcher(text);
    while (name.find()) {
      names.add(name.group(1));
    }
    return names;
  }

  private static Set<JavaClass> classes(String simpleName) {
    return CLASSES.stream()
        .filter(type -> type.getSimpleName().equals(simpleName))
        .collect(Collectors.toSet());
  }

  /** By itself, as what is nested in it, or as what it extends or implements. */
  private static boolean isUsed(Set<JavaClass> here, Set<JavaClass> before) {
    Set<JavaClass> known = new HashSet<>(here);
    here.forEach(type -> known.addAll(type.getAllRawInterfaces()));
    here.forEach(type -> known.addAll(type.getAllRawSuperclasses()));
    known.removeIf(type -> !type.getPackageName().startsWith("dev.warmpath"));
    return CLASSES.stream()
        .filter(type -> before.stream().anyMatch(outer -> isIn(type, outer)))
        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
        .map(Dependency::getTargetClass)
        .anyMatch(used -> known.stream().anyMatch(type -> isIn(used, type)));
  }

  /** Whether a class is another one, or nested in it. */
  private static boolean isIn(JavaClass type, JavaClass outer) {
    return type.getName().equals(outer.getName())
        || type.getName().startsWith(outer.getName() + "$");
  }
}
