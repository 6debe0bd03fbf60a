package dev.warmpath.tokenizer.template.builtin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What CPython 3.11 makes of the same texts. */
class PythonCaseTest {

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "\u039f\u0394\u039f\u03a3, \u03bf\u03b4\u03bf\u03c2, \u039f\u03b4\u03bf\u03c2, \u039f\u03b4\u03bf\u03c2",
        "\u0391\u03a3'\u03a3 \u03a3 \u03a3\u0391\u03a3., \u03b1\u03c3'\u03c2 \u03c3 \u03c3\u03b1\u03c2., \u0391\u03c3'\u03c2 \u03c3 \u03c3\u03b1\u03c2., \u0391\u03c3'\u03a3 \u03a3 \u03a3\u03b1\u03c2.",
        "\u03a3, \u03c3, \u03a3, \u03a3",
        "\u0391\u03a3\u0301, \u03b1\u03c2\u0301, \u0391\u03c2\u0301, \u0391\u03c2\u0301",
        "a \u0149ever \u01c6 \ufb01n, a \u0149ever \u01c6 \ufb01n, A \u0149ever \u01c6 \ufb01n, A \u02bcNever \u01c5 Fin",
        "\u1fb3 \u1fb2b, \u1fb3 \u1fb2b, \u1fbc \u1fb2b, \u1fbc \u1fba\u0345b",
        "\u0130I, i\u0307i, \u0130i, \u0130i",
        "they're \u01c5, they're \u01c6, They're \u01c6, They'Re \u01c5",
      })
  void theCasesArePythons(String text, String lower, String capitalized, String titled) {
    assertThat(PythonCase.lower(text)).isEqualTo(lower);
    assertThat(PythonCase.capitalized(text)).isEqualTo(capitalized);
    assertThat(PythonCase.titled(text)).isEqualTo(titled);
  }
}
