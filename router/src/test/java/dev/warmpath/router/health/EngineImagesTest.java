package dev.warmpath.router.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.SlowTierReuse;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.ImageForm.Algorithm;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.tokenizer.image.ImageNaming;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** In which forms images are named, as engines are found out. */
class EngineImagesTest {

  private static final ImageForm FRAMED = new ImageForm(true, Algorithm.BLAKE3, "/models/m");
  private static final ImageForm BARE = new ImageForm(false, Algorithm.SHA256, "/models/m");

  private final Fleet fleet = new Fleet();
  private final ModelCatalog catalog = new ModelCatalog(fleet, replica -> false);
  private final Map<Replica, ImageForm> found = new HashMap<>();
  private final EngineImages images =
      new EngineImages(
          fleet,
          catalog,
          new EngineEvents() {
            @Override
            public EngineView view(Replica replica, int dpRank) {
              return new EngineView(
                  0, null, Trust.EXACT, SlowTierReuse.ALL, null, found.get(replica));
            }
          });

  private Replica replica(String name, String model, String root) {
    Replica replica = new Replica(name, URI.create("http://" + name), Set.of(), 1);
    fleet.change(List.of(), List.of(replica));
    String list =
        "{\"data\":[{\"id\":\"%1$s\",\"root\":\"%2$s\"},{\"id\":\"%1$s-fr\",\"parent\":\"%1$s\"}]}"
            .formatted(model, root);
    catalog.learn(replica, ServedModel.read(list).orElseThrow());
    return replica;
  }

  @Test
  void allFormsAreTriedUntilAnEngineIsFoundOut() {
    replica("a", "m", "/models/m");
    replica("b", "other", "/models/other");
    ImageNaming naming = images.of("m");
    assertThat(naming.forms()).containsExactlyElementsOf(ImageForm.all("/models/m"));
    assertThat(naming.usual()).isNull();
    assertThat(images.of("m-fr").forms()).as("the adapter's base").isEqualTo(naming.forms());
    assertThat(images.of("nobody's").forms()).isEmpty();
  }

  @Test
  void whatWasFoundIsEnoughOnceAllEnginesAre() {
    Replica a = replica("a", "m", "/models/m");
    Replica b = replica("b", "m", "/models/m");
    found.put(a, FRAMED);
    List<Integer> counts = new ArrayList<>();
    for (int i = 0; i < 512; i++) {
      ImageNaming naming = images.of("m");
      assertThat(naming.usual()).isEqualTo(FRAMED);
      assertThat(naming.forms()).startsWith(FRAMED).doesNotHaveDuplicates();
      counts.add(naming.forms().size());
    }
    assertThat(counts.subList(0, 256)).as("b may use another").containsOnly(6);
    assertThat(counts.subList(256, 512)).containsOnly(6, 1).filteredOn(n -> n == 6).hasSize(4);

    found.put(b, BARE);
    for (int i = 0; i < 512; i++) {
      ImageNaming both = images.of("m");
      assertThat(both.usual()).as("they do not agree").isNull();
      assertThat(both.forms()).containsExactly(FRAMED, BARE);
    }
  }

  /** As when engines are replaced one by one by those of another release. */
  @Test
  void eachEngineThatJoinsIsFoundOutAtOnce() {
    Replica a = replica("a", "m", "/models/m");
    Replica b = replica("b", "m", "/models/m");
    found.put(a, FRAMED);
    for (int i = 0; i < 1001; i++) {
      images.of("m");
    }
    replica("c", "m", "/models/m");
    found.put(b, BARE);
    assertThat(images.of("m").forms()).as("as many as before are not found out").hasSize(6);
    assertThat(images.of("m").forms()).hasSize(6);
  }

  @Test
  void anEngineThatStartsAnewIsFoundOutAtOnce() {
    Replica a = replica("a", "m", "/models/m");
    found.put(a, FRAMED);
    for (int i = 0; i < 1001; i++) {
      assertThat(images.of("m").forms()).contains(FRAMED);
    }
    found.clear();
    assertThat(images.of("m").forms()).hasSize(6);
  }

  @Test
  void chatsOfOneModelDoNotCountForAnother() {
    replica("a", "m", "/models/m");
    replica("b", "other", "/models/other");
    for (int i = 0; i < 1001; i++) {
      images.of("m");
    }
    assertThat(images.of("other").forms()).hasSize(6);
  }

  @Test
  void enginesThatAreNeverFoundOutCostLittleInTheEnd() {
    replica("a", "m", "/models/m");
    int tried = 0;
    for (int i = 0; i < 1024; i++) {
      tried += images.of("m").forms().isEmpty() ? 0 : 1;
    }
    assertThat(tried).isEqualTo(256 + (1024 - 256) / 64);
  }
}
