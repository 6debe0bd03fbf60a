package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FleetTest {

  private final Fleet fleet = new Fleet();

  @Test
  void keepsTheOrderInWhichReplicasCame() {
    fleet.add(replica("b"));
    fleet.add(replica("a"));
    assertThat(fleet.replicas()).extracting(Replica::name).containsExactly("b", "a");
  }

  @Test
  void namesAreUnique() {
    Replica first = replica("a");
    assertThat(fleet.add(first)).isTrue();
    assertThat(fleet.add(replica("a"))).isFalse();
    assertThat(fleet.replicas()).containsExactly(first);
  }

  @Test
  void aListOnceTakenDoesNotChange() {
    fleet.add(replica("a"));
    List<Replica> before = fleet.replicas();
    fleet.change(List.of(fleet.find("a").orElseThrow()), List.of());
    assertThat(before).hasSize(1);
    assertThat(fleet.replicas()).isEmpty();
  }

  @Test
  void aReplicaIsDownUntilSomebodySaysOtherwise() {
    Replica replica = replica("a");
    assertThat(replica.health()).isEqualTo(Replica.Health.DOWN);
    replica.health(Replica.Health.UP);
    assertThat(replica.health()).isEqualTo(Replica.Health.UP);
  }

  @Test
  void aReplicaServesItsModelsAndWhateverIsAskedWithoutName() {
    Replica replica = replica("a");
    assertThat(replica.serves("m")).isTrue();
    assertThat(replica.serves("adapter")).isFalse();
    assertThat(replica.serves(null)).isTrue();
    replica.models(Set.of("m", "adapter"));
    assertThat(replica.serves("adapter")).isTrue();
  }

  @Test
  void aReplicaThatHasNamedNoModelMayServeAny() {
    Replica replica = new Replica("a", URI.create("http://a"), Set.of(), 1);
    assertThat(replica.serves("m")).isTrue();
    replica.models(Set.of("n"));
    assertThat(replica.serves("m")).isFalse();
  }

  @Test
  void refusesReplicasThatCannotBe() {
    assertThatThrownBy(() -> replica(" ")).hasMessage("name=' '");
    assertThatThrownBy(() -> new Replica("a", URI.create("http://a"), Set.of(), 0))
        .hasMessage("ranks=0");
  }

  private static Replica replica(String name) {
    return new Replica(name, URI.create("http://localhost"), Set.of("m"), 1);
  }
}
