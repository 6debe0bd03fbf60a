package dev.warmpath.tokenizer.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warmpath.tokenizer.template.builtin.Filters;
import dev.warmpath.tokenizer.template.builtin.StringMethods;
import dev.warmpath.tokenizer.template.builtin.Tests;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateException.Kind;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every row of the table is refused where it is reached, and Jinja2 has nothing beyond it. */
class UnsupportedTest {

  /** The names of Jinja2 3.1.6 and CPython 3.12. */
  private static final String FILTERS =
      "abs attr batch capitalize center count d default dictsort e escape filesizeformat first float"
          + " forceescape format groupby indent int items join last length list lower map max min"
          + " pprint random reject rejectattr replace reverse round safe select selectattr slice sort"
          + " string striptags sum title tojson trim truncate unique upper urlencode urlize wordcount"
          + " wordwrap xmlattr";

  private static final String TESTS =
      "!= < <= == > >= boolean callable defined divisibleby eq equalto escaped even false filter"
          + " float ge greaterthan gt in integer iterable le lessthan lower lt mapping ne none number"
          + " odd sameas sequence string test true undefined upper";

  private static final String STRING_METHODS =
      "capitalize casefold center count encode endswith expandtabs find format format_map index"
          + " isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable"
          + " isspace istitle isupper join ljust lower lstrip maketrans partition removeprefix"
          + " removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines"
          + " startswith strip swapcase title translate upper zfill";

  static Stream<List<String>> refusals() {
    return Stream.of(Unsupported.values())
        .flatMap(kind -> kind.names().stream().map(name -> List.of(kind.name(), name)));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void isRefusedByNameAndLine(List<String> kindAndName) {
    Unsupported kind = Unsupported.valueOf(kindAndName.get(0));
    String name = kindAndName.get(1);
    ChatTemplate reaching = null;
    TemplateException refusal;
    try {
      reaching = ChatTemplate.parse("\n" + template(kind, name));
      ChatTemplate template = reaching;
      refusal =
          catchThrowableOfType(TemplateException.class, () -> template.render(Map.of("x", true)));
    } catch (TemplateException e) {
      refusal = e;
    }
    assertThat(refusal.kind()).isEqualTo(Kind.UNSUPPORTED);
    assertThat(refusal).hasMessage("line 2: " + kind.of(name).bareMessage());
    assertThat(refusal.bareMessage()).endsWith(" " + name);
    assertThat(reaching != null || name.equals("raw")).isTrue();
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void whatIsNotReachedIsNotRefused(List<String> kindAndName) {
    Unsupported kind = Unsupported.valueOf(kindAndName.get(0));
    String name = kindAndName.get(1);
    if (!name.equals("raw")) {
      String template = "{% if x %}" + template(kind, name) + "{% endif %}y";
      assertThat(ChatTemplate.parse(template).render(Map.of("x", false))).isEqualTo("y");
    }
  }

  private static String template(Unsupported kind, String name) {
    return switch (kind) {
      case BLOCK_TAG -> "{% " + name + " a = b %}{{ c }}{% end" + name + " %}";
      case TAG -> "{% " + name + " 'a' %}";
      case LOOP -> "{% for a in [1] " + name + " %}{% endfor %}";
      case FILTER -> "{{ 'a'|" + name + " }}";
      case TEST -> "{{ 'a' is " + name + " }}";
      case FUNCTION -> "{{ " + name + "() }}";
      case OPERATOR ->
          switch (name) {
            case "**" -> "{{ 2 ** 3 }}";
            case "% on floats" -> "{{ 2.5 % 2 }}";
            case "% on text" -> "{{ '%s' % 2 }}";
            case "* on lists" -> "{{ [1] * 2 }}";
            case "// on floats" -> "{{ 2.5 // 2 }}";
            default -> throw new IllegalArgumentException(name);
          };
      case ARGUMENT -> "{{ namespace(" + name + "{}) }}";
      case STRING_METHOD -> "{{ 'a'." + name + "() }}";
      case LIST_METHOD -> "{{ [1]." + name + "(1) }}";
      case DICT_METHOD -> "{{ {}." + name + "() }}";
      case NUMBER_ATTRIBUTE -> "{{ (1)." + name + " }}";
      case LOOP_ATTRIBUTE -> "{% for a in [1] %}{{ loop." + name + "(1) }}{% endfor %}";
      case MACRO_VARIABLE -> "{% macro m() %}{{ " + name + " }}{% endmacro %}{{ m(1, a=2) }}";
      case MACRO_ATTRIBUTE -> "{% macro m() %}{% endmacro %}{{ m." + name + " }}";
    };
  }

  @Test
  void everyNameOfJinjaIsKnown() {
    assertThat(FILTERS.split(" ")).allMatch(name -> Filters.find(name) != null);
    assertThat(TESTS.split(" ")).allMatch(name -> Tests.find(name) != null);
    assertThat(STRING_METHODS.split(" ")).allMatch(name -> StringMethods.find(name) != null);
  }
}
