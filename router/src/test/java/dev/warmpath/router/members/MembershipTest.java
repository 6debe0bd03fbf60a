package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.FleetChange.Refusal;
import dev.warmpath.router.rig.Rig;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class MembershipTest {

  private final Fleet fleet = new Fleet();
  private final AtomicLong nanos = new AtomicLong();
  private final Map<String, String> models = new TreeMap<>();
  private final List<String> followed = new CopyOnWriteArrayList<>();
  private final List<String> judged = new CopyOnWriteArrayList<>();
  private List<String> shall = List.of();
  private @Nullable String broken;
  private final Membership membership =
      new Membership(
          new Membership.Environment(
              fleet,
              new Follower(),
              (source, replica) -> {
                judged.add(replica.name());
                return replica.port() == 666
                    ? ReplicaCheck.Verdict.refused("port 666 is not for engines")
                    : ReplicaCheck.Verdict.ALLOWED;
              },
              () -> 1_000,
              nanos::get,
              Thread::new));

  private final class Follower implements Membership.Follower {

    @Override
    public void follow(ReplicaConfig replica, String model) {
      String ranks = replica.name() + " of " + replica.ranks();
      if (List.of(replica.name(), ranks, model).contains(String.valueOf(broken))) {
        throw new IllegalStateException("no slot");
      }
      followed.add(replica.name() + " " + replica.port());
      if (replica.events() != null) {
        models.put(replica.name(), model);
      }
    }

    @Override
    public void unfollow(ReplicaConfig replica) {
      assertThat(followed.remove(replica.name() + " " + replica.port())).isTrue();
    }

    @Override
    public void allKnown() {
      followed.add("all");
    }

    @Override
    public void changed(List<ReplicaConfig> replicas) {
      shall = replicas.stream().map(ReplicaConfig::name).toList();
    }
  }

  @AfterEach
  void close() {
    membership.close();
  }

  @Test
  void followsWhatASourceNames() throws Exception {
    FleetChange change =
        set("admin", "{name: a, url: 'http://h:1'}", "{name: b, url: 'http://h:2'}");
    assertThat(change.added()).containsExactly("a", "b");
    assertThat(names()).containsExactly("a", "b");
    assertThat(followed).containsExactly("a 1", "b 2");

    change = set("admin", "{name: b, url: 'http://h:2'}");
    assertThat(change.leaving()).containsExactly("a");
    assertThat(change.added()).isEmpty();
    assertThat(shall).containsExactly("b");
    Rig.until(() -> membership.members().size() == 1);
    assertThat(names()).containsExactly("b");
    assertThat(followed).containsExactly("b 2");
    assertThat(set("admin", "{name: b, url: 'http://h:2'}").isEmpty()).isTrue();
  }

  @Test
  void removedReplicaStaysUntilItIsIdleOrLate() throws Exception {
    set("admin", "{name: a, url: 'http://h:1'}", "{name: b, url: 'http://h:2'}");
    Replica a = replica("a");
    Replica b = replica("b");
    a.began(0, 0);
    b.began(0, 0);
    set("admin");
    assertThat(a.draining()).isTrue();
    b.ended(0);
    Rig.until(() -> membership.members().size() == 1);
    assertThat(names()).containsExactly("a");
    assertThat(b.isGone()).isTrue();
    assertThat(a.isGone()).isFalse();
    assertThat(membership.members()).singleElement().matches(Member::leaving);
    nanos.addAndGet(1_000_000_000);
    Rig.until(() -> membership.members().isEmpty());
    assertThat(names()).isEmpty();
    assertThat(followed).isEmpty();
  }

  @Test
  void oneThatIsNamedAgainWhileItLeavesStays() throws Exception {
    set("admin", "{name: a, url: 'http://h:1'}");
    Replica a = replica("a");
    a.began(0, 0);
    set("admin");
    FleetChange change = set("admin", "{name: a, url: 'http://h:1'}");
    assertThat(change.adjusted()).containsExactly("a");
    assertThat(a.draining()).isFalse();
    assertThat(replica("a")).isSameAs(a);
  }

  @Test
  void anotherEngineOfTheNameTakesThePlaceAtOnce() throws Exception {
    set("admin", "{name: a, url: 'http://h:1'}");
    Replica old = replica("a");
    old.began(0, 0);
    assertThat(set("admin", "{name: a, url: 'http://h:9'}").replaced()).containsExactly("a");
    assertThat(old.isGone()).isTrue();
    assertThat(replica("a").baseUrl().getPort()).isEqualTo(9);
    assertThat(followed).containsExactly("a 9");
  }

  @Test
  void weightAndModelsChangeInPlace() throws Exception {
    set("admin", "{name: a, url: 'http://h:1', models: [m]}");
    Replica a = replica("a");
    assertThat(set("admin", "{name: a, url: 'http://h:1', models: [m, n], weight: 2.5}").adjusted())
        .containsExactly("a");
    assertThat(replica("a")).isSameAs(a);
    assertThat(a.weight()).isEqualTo(2.5);
    assertThat(a.models()).containsExactlyInAnyOrder("m", "n");
    a.models(Set.of("told"));
    set("admin", "{name: a, url: 'http://h:1', models: [k]}");
    assertThat(a.models()).as("the engine knows better").containsExactly("told");
  }

  @Test
  void anotherOnlyModelFollowsAnewWhoseBlocksItNames() throws Exception {
    membership.configure(replicas("{name: a, url: 'http://h:1', events: 'tcp://h:2'}"), "m");
    set(
        "admin",
        "{name: b, url: 'http://h:3', events: 'tcp://h:4'}",
        "{name: own, url: 'http://h:5', events: 'tcp://h:6', models: [n]}",
        "{name: silent, url: 'http://h:7'}");
    broken = "k";
    assertThatThrownBy(() -> membership.configure(List.of(), "k")).hasMessage("no slot");
    assertThat(models).containsOnly(entry("a", "m"), entry("b", "m"), entry("own", "n"));
    broken = null;
    Replica b = replica("b");
    assertThat(membership.configure(List.of(), "k").adjusted()).containsExactly("b");
    assertThat(replica("b")).as("it need not be found up again").isSameAs(b);
    assertThat(models).containsEntry("b", "k").containsEntry("a", "m");
  }

  @Test
  void earlierSourceWinsAName() throws Exception {
    set("admin", "{name: a, url: 'http://h:1'}");
    FleetChange change = set("configuration", "{name: a, url: 'http://h:1', weight: 2.0}");
    assertThat(change.adjusted()).containsExactly("a");
    assertThat(change.refused())
        .containsExactly(
            new Refusal("admin", "a", "the name is taken by a replica of configuration"));
    assertThat(membership.members())
        .singleElement()
        .matches(m -> m.source().equals("configuration"));
    set("configuration");
    assertThat(membership.members()).singleElement().matches(m -> m.source().equals("admin"));
    assertThat(membership.refusals()).isEmpty();
  }

  @Test
  void refusesWhatTheCheckRefuses() throws Exception {
    FleetChange change =
        set("admin", "{name: a, url: 'http://h:1'}", "{name: b, url: 'http://h:666'}");
    assertThat(change.added()).containsExactly("a");
    assertThat(change.refused())
        .containsExactly(new Refusal("admin", "b", "port 666 is not for engines"));
    assertThat(membership.put("admin", replicas("{name: a, url: 'http://h:666'}").get(0)).refused())
        .hasSize(1);
    assertThat(replica("a").baseUrl().getPort()).as("as it was").isEqualTo(1);
  }

  /** It may be by looking up its host. */
  @Test
  void oneThatIsAddedIsJudgedOnce() throws Exception {
    membership.put("admin", replicas("{name: a, url: 'http://h:1'}").get(0));
    membership.put("admin", replicas("{name: b, url: 'http://h:2'}").get(0));
    assertThat(names()).containsExactly("a", "b");
    assertThat(judged).containsExactly("a", "b");
  }

  @Test
  void nobodyElseNamesReplicas() throws Exception {
    List<ReplicaConfig> one = replicas("{name: a, url: 'http://h:1'}");
    assertThatThrownBy(() -> membership.offer("dns", one)).hasMessage("source=dns");
    assertThatThrownBy(() -> membership.put("dns", one.get(0))).hasMessage("source=dns");
    assertThat(names()).isEmpty();
  }

  @Test
  void whatAnEngineSaysIsForgottenIfItCannotBeFollowed() throws Exception {
    set("admin", "{name: a, url: 'http://h:1', events: auto}");
    Replica a = replica("a");
    AnnouncedRanks two =
        AnnouncedRanks.read(
                "{\"0\": {\"endpoint\": \"tcp://*:7\"}, \"1\": {\"endpoint\": \"tcp://*:8\"}}"
                    .getBytes(StandardCharsets.UTF_8))
            .orElseThrow();
    broken = "a of 2";
    assertThat(told(a, two)).isFalse();
    broken = null;
    set("admin", "{name: a, url: 'http://h:1', events: auto, weight: 2.0}");
    assertThat(replica("a")).isSameAs(a);
    assertThat(told(a, two)).isTrue();
    assertThat(replica("a").ranks()).isEqualTo(2);
    assertThat(told(replica("a"), two)).as("known").isFalse();
  }

  private boolean told(Replica replica, AnnouncedRanks sources) {
    return membership.ranksAnnounced(replica, sources).toCompletableFuture().join();
  }

  @Test
  void doesAllOrNothing() throws Exception {
    set("admin", "{name: a, url: 'http://h:1'}");
    broken = "c";
    assertThatThrownBy(() ->
            set(
                "admin",
                "{name: a, url: 'http://h:9'}",
                "{name: b, url: 'http://h:2'}",
                "{name: c, url: 'http://h:3'}"))
        .hasMessage("no slot");
    assertThat(names()).containsExactly("a");
    assertThat(replica("a").baseUrl().getPort()).isEqualTo(1);
    assertThat(followed).containsExactly("a 1");
    broken = null;
    assertThat(membership.offer("configuration", List.of()).isEmpty()).as("forgotten").isTrue();
  }

  @Test
  void whatCannotBeUndoneKeepsNothingElseFromIt() throws Exception {
    set("admin", "{name: a, url: 'http://h:1'}", "{name: b, url: 'http://h:2'}");
    broken = "b";
    assertThatThrownBy(
            () -> set("admin", "{name: a, url: 'http://h:9'}", "{name: b, url: 'http://h:8'}"))
        .hasMessage("no slot");
    assertThat(followed).containsExactly("a 1");
    assertThat(replica("a").baseUrl().getPort()).isEqualTo(1);
  }

  @Test
  void operatorsDrainWhateverSourcesSay() throws Exception {
    set("admin", "{name: a, url: 'http://h:1'}");
    assertThat(membership.drain("a")).isTrue();
    set("admin", "{name: a, url: 'http://h:9'}");
    assertThat(replica("a").draining()).isTrue();
    assertThat(membership.resume("a")).isTrue();
    assertThat(replica("a").draining()).isFalse();
    assertThat(membership.drain("b")).isFalse();
    set("admin");
    assertThat(membership.resume("a")).as("it leaves").isFalse();
  }

  @Test
  void followsSourcesUntilItIsClosed() throws Exception {
    Listed listed = new Listed();
    ReplicaSource source = new ReplicaSource("test", listed, 5, System::nanoTime);
    membership.begin(replicas("{name: a, url: 'http://h:1'}"), "", List.of(source));
    assertThat(followed).as("others may still come").containsExactly("a 1");
    listed.now = replicas("{name: b, url: 'http://h:2'}");
    Rig.until(() -> names().equals(List.of("a", "b")));
    listed.now = List.of();
    Rig.until(() -> names().equals(List.of("a")));
    membership.close();
    assertThat(listed.closed).isTrue();
  }

  @Test
  void withoutSourcesAllAreKnownAtTheStart() throws Exception {
    membership.begin(replicas("{name: a, url: 'http://h:1'}"), "", List.of());
    assertThat(followed).containsExactly("a 1", "all");
  }

  @Test
  void aSourceThatFailsKeepsNoOtherFromHearingWhatReplicasAreWorth() throws Exception {
    Map<String, Double> heard = new HashMap<>();
    Listed broken =
        new Listed() {
          @Override
          public void worth(Map<String, Double> seconds) {
            throw new IllegalStateException("broken");
          }
        };
    Listed well =
        new Listed() {
          @Override
          public void worth(Map<String, Double> seconds) {
            heard.putAll(seconds);
          }
        };
    membership.begin(
        List.of(),
        "",
        List.of(
            new ReplicaSource("broken", broken, 5, System::nanoTime),
            new ReplicaSource("well", well, 5, System::nanoTime)));
    membership.worth(Map.of("a", 1.0));
    assertThat(heard).containsOnlyKeys("a");
  }

  private static class Listed implements Look {
    private volatile List<ReplicaConfig> now = List.of();
    private volatile boolean closed;

    @Override
    public Found look() {
      Found found = new Found();
      now.forEach(found::add);
      return found;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @Test
  void replicasOfOneUrlAreOneWarningUntilTheyChange() throws Exception {
    List<String> warnings = new CopyOnWriteArrayList<>();
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            if (event.getFormattedMessage().contains("one URL")) {
              warnings.add(event.getLevel() + " " + event.getFormattedMessage());
            }
          }
        };
    Logger logger = (Logger) LoggerFactory.getLogger(Membership.class);
    appender.start();
    logger.addAppender(appender);
    try {
      String a = "{name: a, url: 'http://h:1'}";
      String c = "{name: c, url: 'http://h:1'}";
      set("admin", a, "{name: b, url: 'http://h:2'}");
      assertThat(warnings).isEmpty();
      set("admin", a, c);
      String both = "WARN the replicas [a, c] have one URL, http://h:1: they are one engine";
      assertThat(warnings).containsExactly(both);
      set("admin", a, c, "{name: d, url: 'http://h:4'}");
      assertThat(warnings).as("known already").hasSize(1);
      set("admin", a);
      set("admin", a, c);
      assertThat(warnings).as("again").containsExactly(both, both);
    } finally {
      logger.detachAppender(appender);
    }
  }

  private FleetChange set(String source, String... yaml) throws ConfigException {
    return membership.offer(source, replicas(yaml));
  }

  private static List<ReplicaConfig> replicas(String... yaml) throws ConfigException {
    List<ReplicaConfig> replicas = new ArrayList<>();
    for (String replica : yaml) {
      replicas.add(ConfigTree.replica(replica, "test"));
    }
    return replicas;
  }

  private List<String> names() {
    return fleet.replicas().stream().map(Replica::name).toList();
  }

  private Replica replica(String name) {
    return fleet.find(name).orElseThrow();
  }
}
