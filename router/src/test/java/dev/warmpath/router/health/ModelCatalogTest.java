package dev.warmpath.router.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import java.net.URI;
import java.util.Set;
import org.junit.jupiter.api.Test;

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
  void anAnswerOfARemovedReplicaIsForgotten() {
    ModelCatalog catalog = catalog(false);
    fleet.remove("a");
    catalog.learn(replica, ServedModel.read(LISTED).orElseThrow());
    assertThat(catalog.baseOf("fr")).isNull();
  }

  private ModelCatalog catalog(boolean joinsNames) {
    fleet.add(replica);
    replica.health(Replica.Health.UP);
    ModelCatalog catalog = new ModelCatalog(fleet, r -> joinsNames);
    catalog.learn(replica, ServedModel.read(LISTED).orElseThrow());
    return catalog;
  }
}
