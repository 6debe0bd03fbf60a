package dev.warmpath.router.health;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** By which names requests reach a model, and which are adapters. */
class ModelCatalogTest {

  private static final String LISTED =
      """
      {"data":[{"id":"m","parent":null},{"id":"fr","parent":"m","root":"lora/fr"}]}
      """;

  private final Fleet fleet = new Fleet();
  private final Replica replica = new Replica("a", URI.create("http://a"), Set.of(), 1);

  @Test
  void adapterHasANameOfItsOwn() {
    ModelCatalog catalog = catalog(false);
    assertThat(catalog.baseOf("fr")).isEqualTo("m");
    assertThat(catalog.nameOf("fr")).isEqualTo("fr");
    assertThat(catalog.baseOf("m")).isNull();
    assertThat(replica.serves("fr")).isTrue();
  }

  @Test
  void sglangServesItBehindItsBaseOnly() {
    ModelCatalog catalog = catalog(true);
    assertThat(catalog.baseOf("m:fr")).isEqualTo("m");
    assertThat(catalog.nameOf("m:fr")).as("in events").isEqualTo("fr");
    assertThat(catalog.baseOf("fr")).isNull();
    assertThat(replica.serves("fr")).isFalse();
    assertThat(replica.serves("m:fr")).isTrue();
    assertThat(replica.serves("m")).isTrue();
    assertThat(catalog.list(name -> true)).contains("\"m:fr\"").doesNotContain("\"fr\"");
  }

  @Test
  void anAdapterThatIsNoLongerListedIsNone() {
    ModelCatalog catalog = catalog(false);
    catalog.learn(replica, ServedModel.read(LISTED).orElseThrow());
    assertThat(catalog.baseOf("fr")).as("listed again").isEqualTo("m");
    catalog.learn(replica, ServedModel.read("{\"data\":[{\"id\":\"m\"}]}").orElseThrow());
    assertThat(catalog.baseOf("fr")).isNull();
  }

  @Test
  void promptsMayBeAsLongAsTheModelsEntrySaysOrItsBase() {
    ModelCatalog catalog = catalog(false);
    assertThat(replica.maxTokens("m")).as("not said").isEqualTo(Integer.MAX_VALUE);
    String list =
        """
        {"data":[{"id":"fr","parent":"m"},{"id":"de","parent":"m","max_model_len":50},
          {"id":"m","max_model_len":70},{"id":"n","max_model_len":-1}]}
        """;
    catalog.learn(replica, ServedModel.read(list).orElseThrow());
    assertThat(replica.maxTokens("m")).isEqualTo(70);
    assertThat(replica.maxTokens("fr")).isEqualTo(70);
    assertThat(replica.maxTokens("de")).isEqualTo(50);
    assertThat(replica.maxTokens("n")).isEqualTo(Integer.MAX_VALUE);
    assertThat(replica.maxTokens((String) null)).as("whichever it is").isEqualTo(50);
  }

  @Test
  void anAnswerOfARemovedReplicaIsForgotten() {
    ModelCatalog catalog = catalog(false);
    fleet.change(List.of(fleet.find("a").orElseThrow()), List.of());
    catalog.learn(replica, ServedModel.read(LISTED).orElseThrow());
    assertThat(catalog.baseOf("fr")).isNull();
  }

  @Test
  void anEntryIsPassedOnAsItWasGiven() {
    String more =
        "\"created\":17,\"max_model_len\":8,\"permission\":[{\"id\":\"p\",\"a\":[1.5,null]}]";
    String list =
        "{ \"object\": \"list\", \"data\": [7, {\"id\": \"fr\\u00e9\", \"parent\":\"m\", "
            + more
            + "}]}";
    ModelCatalog catalog = catalog(true);
    List<ServedModel> read = ServedModel.read(list).orElseThrow();
    assertThat(read.get(0).maxTokens()).isEqualTo(8);
    catalog.learn(replica, read);
    String entry = "{\"id\":\"m:fr\u00e9\",\"parent\":\"m\"," + more + "}";
    assertThat(catalog.entry("m:fr\u00e9")).isEqualTo(entry);
    assertThat(catalog.list(name -> true))
        .isEqualTo("{\"object\":\"list\",\"data\":[" + entry + "]}");
    assertThat(catalog.list(name -> false)).isEqualTo("{\"object\":\"list\",\"data\":[]}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "7",
        "{}",
        "{\"data\":{}}",
        "{\"data\":[{\"id\":\"m\"}]",
        "{\"data\":[{\"id\":\"m\"}],\"data\":7}",
        "{\"data\":[{\"id\":7}]}",
        "{\"data\":[7]}",
        "<html>"
      })
  void whatIsNoListOfModelsIsNone(String answer) {
    assertThat(ServedModel.read(answer)).isEmpty();
  }

  @Test
  void aListMayBeEmptyAndHasABound() {
    assertThat(ServedModel.read("{\"data\":[]}").orElseThrow()).isEmpty();
    String entry = "{\"id\":\"m\"}";
    assertThat(ServedModel.read(list(Collections.nCopies(10_000, entry))).orElseThrow())
        .hasSize(10_000);
    assertThat(ServedModel.read(list(Collections.nCopies(10_001, entry)))).isEmpty();
  }

  private static String list(List<String> entries) {
    return "{\"data\":[" + String.join(",", entries) + "]}";
  }

  /** A tree of it would be many times its length. */
  @Test
  void aLongAnswerIsReadWithoutATree() {
    String nested = String.join(",", Collections.nCopies((4 << 20) / 3, "{}"));
    String answer = "{\"x\":[" + nested + "],\"data\":[{\"id\":\"m\"}]}";
    assertThat(ServedModel.read(answer)).isPresent();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(ServedModel.read(answer).orElseThrow()).hasSize(1);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(answer.length());
  }

  private ModelCatalog catalog(boolean joinsNames) {
    fleet.add(replica);
    replica.health(Replica.Health.UP);
    ModelCatalog catalog = new ModelCatalog(fleet, r -> joinsNames);
    catalog.learn(replica, ServedModel.read(LISTED).orElseThrow());
    return catalog;
  }
}
