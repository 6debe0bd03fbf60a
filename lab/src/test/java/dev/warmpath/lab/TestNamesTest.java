package dev.warmpath.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The build runs tests by the names of their classes: one of another name would never run. */
final class TestNamesTest {

  private static final Pattern TEST =
      Pattern.compile("^ +@(Test|ParameterizedTest|Property|ArchTest)\\b", Pattern.MULTILINE);

  private static final Pattern NOT_RUN_ITSELF =
      Pattern.compile("^(public )?abstract class ", Pattern.MULTILINE);

  /** Is run at length, by a profile of its own. */
  private static final String FUZZ = "DecodeFuzz.java";

  @Test
  void classesWithTestsAreNamedSo() throws IOException {
    List<Path> tests;
    try (Stream<Path> modules = Files.list(Path.of(".."))) {
      tests =
          modules
              .map(module -> module.resolve("src/test/java"))
              .filter(Files::isDirectory)
              .flatMap(TestNamesTest::classesWithTests)
              .collect(Collectors.toList());
    }
    assertThat(tests).hasSizeGreaterThan(300);
    tests.removeIf(file -> file.toString().endsWith("Test.java") || file.endsWith(FUZZ));
    assertThat(tests).as("classes with tests that are never run").isEmpty();
  }

  private static Stream<Path> classesWithTests(Path sources) {
    try (Stream<Path> files = Files.walk(sources)) {
      return files
          .filter(file -> file.toString().endsWith(".java") && hasTests(file))
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean hasTests(Path file) {
    try {
      String source = Files.readString(file);
      return TEST.matcher(source).find() && !NOT_RUN_ITSELF.matcher(source).find();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
