package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.dispatch.Prewarming;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.FleetChange;
import dev.warmpath.router.members.FleetChange.Refusal;
import dev.warmpath.router.members.Member;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.members.Prewarmer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The admin endpoints that show and change which replicas there are: {@code GET} and {@code POST
 * /admin/replicas}, {@code DELETE /admin/replicas/NAME}, {@code POST} to {@code …/NAME/drain},
 * {@code …/resume}, {@code …/clear} and {@code …/warm}.
 *
 * <p>Thread-safe. Answers may wait for the index writer.
 */
final class ReplicaEndpoints {

  static final int MAX_BODY_BYTES = 64 << 10;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** An HTTP status and a JSON body. */
  record Reply(int status, ObjectNode body) {

    static Reply ok(ObjectNode body) {
      return new Reply(200, body);
    }

    static Reply failed(int status, String why) {
      return new Reply(status, AdminVerticle.errorNode(why));
    }
  }

  private final AdminContext admin;
  private final Membership membership;

  ReplicaEndpoints(AdminContext admin) {
    this.admin = admin;
    this.membership = admin.membership();
  }

  /** What is asked of one replica. */
  interface Action {
    Reply on(Member member);
  }

  Reply withMember(String name, Action action) {
    return member(name)
        .map(action::on)
        .orElseGet(() -> Reply.failed(404, "no replica is called " + name));
  }

  private Optional<Member> member(String name) {
    return membership.members().stream()
        .filter(member -> member.config().name().equals(name))
        .findFirst();
  }

  Reply add(String text) {
    ReplicaConfig replica;
    try {
      replica = ConfigTree.replica(text, "body");
    } catch (ConfigException e) {
      return Reply.failed(400, String.join("; ", e.problems()));
    }
    Member known = member(replica.name()).filter(member -> !member.leaving()).orElse(null);
    if (known != null && !known.source().equals(Membership.ADMIN)) {
      return Reply.failed(
          409, "'" + replica.name() + "' is a replica of " + known.source() + " already");
    }
    String sharing = otherAt(replica);
    if (sharing != null) {
      return Reply.failed(409, "'" + sharing + "' has the URL " + replica.url() + " already");
    }
    FleetChange change = membership.put(Membership.ADMIN, replica);
    String refused = refusal(change, replica.name());
    if (refused != null) {
      return Reply.failed(400, "'" + replica.name() + "' is refused: " + refused);
    }
    tell(Cluster.replicaSetting(replica.name()), text);
    return Reply.ok(changed(change));
  }

  /** The other routers do the same, or will when they have the replica. */
  private void tell(String setting, @Nullable String value) {
    if (admin.cluster() != null) {
      admin.cluster().set(setting, value);
    }
  }

  Reply drain(Member member) {
    boolean done = membership.drain(member.config().name());
    tell(Cluster.drainSetting(member.config().name()), "true");
    return draining(member, done);
  }

  Reply resume(Member member) {
    boolean done = membership.resume(member.config().name());
    tell(Cluster.drainSetting(member.config().name()), null);
    return draining(member, done);
  }

  private @Nullable String otherAt(ReplicaConfig replica) {
    return membership.members().stream()
        .filter(member -> !member.leaving())
        .map(Member::config)
        .filter(other -> other.url().equals(replica.url()))
        .map(ReplicaConfig::name)
        .filter(name -> !name.equals(replica.name()))
        .findFirst()
        .orElse(null);
  }

  private static @Nullable String refusal(FleetChange change, String name) {
    return change.refused().stream()
        .filter(refused -> refused.source().equals(Membership.ADMIN))
        .filter(refused -> refused.replica().equals(name))
        .map(Refusal::reason)
        .findFirst()
        .orElse(null);
  }

  Reply remove(Member member) {
    if (member.source().equals(Membership.ADMIN)) {
      FleetChange change = membership.drop(Membership.ADMIN, member.config().name());
      tell(Cluster.replicaSetting(member.config().name()), null);
      tell(Cluster.drainSetting(member.config().name()), null);
      return Reply.ok(changed(change));
    }
    return Reply.failed(
        409,
        "'%s' is named by %s: remove it there, or drain it here"
            .formatted(member.config().name(), member.source()));
  }

  private static Reply draining(Member member, boolean done) {
    return done
        ? Reply.ok(
            JSON.createObjectNode()
                .put("replica", member.config().name())
                .put("draining", member.replica().draining())
                .put("requests", member.replica().requests()))
        : Reply.failed(409, "'" + member.config().name() + "' is leaving");
  }

  /** What the engine says itself only with its next events can be said here at once. */
  Reply clear(Member member) {
    String name = member.config().name();
    return Reply.ok(
        JSON.createObjectNode()
            .put("replica", name)
            .put("enginesCleared", admin.clear().applyAsInt(name)));
  }

  /** Begins on each rank where nothing is in the way. */
  Reply warm(Member member) {
    String name = member.config().name();
    ObjectNode root = JSON.createObjectNode().put("replica", name);
    ArrayNode engines = root.putArray("engines");
    String why = member.leaving() ? "it is leaving" : null;
    boolean begins = false;
    for (EngineState engine : member.leaving() ? List.<EngineState>of() : engines(member)) {
      Prewarming.Status status = admin.prewarming().begin(engine);
      String obstacle = Prewarmer.obstacle(status.state());
      begins |= obstacle == null;
      why = obstacle == null ? why : obstacle;
      ObjectNode to = engines.addObject().put("engine", engine.name());
      FleetReport.prewarm(to, status);
    }
    return begins ? Reply.ok(root) : Reply.failed(409, "'" + name + "' is not warmed: " + why);
  }

  private List<EngineState> engines(Member member) {
    return admin.dispatcher().engines().stream()
        .filter(engine -> engine.replica().equals(member.replica()))
        .toList();
  }

  ObjectNode list() {
    ObjectNode root = JSON.createObjectNode();
    ArrayNode replicas = root.putArray("replicas");
    membership.members().forEach(member -> replica(replicas.addObject(), member));
    refused(root.putArray("refused"), membership.refusals());
    ArrayNode sources = root.putArray("sources");
    membership
        .sources()
        .forEach(source ->
            sources.addObject().put("source", source.name()).put("problem", source.problem()));
    return root;
  }

  private static void replica(ObjectNode to, Member member) {
    Replica replica = member.replica();
    to.put("name", replica.name());
    to.put("source", member.source());
    to.put("url", replica.baseUrl().toString());
    to.put("events", member.config().events());
    to.put("ranks", replica.ranks());
    to.put("firstRank", replica.firstRank());
    to.put("weight", replica.weight());
    to.put("health", replica.health().name().toLowerCase(Locale.ROOT));
    to.put("draining", replica.draining());
    to.put("leaving", member.leaving());
    to.put("requests", replica.requests());
    ArrayNode models = to.putArray("models");
    replica.models().stream().sorted().forEach(models::add);
  }

  private static ObjectNode changed(FleetChange change) {
    ObjectNode root = JSON.createObjectNode();
    names(root.putArray("added"), change.added());
    names(root.putArray("removed"), change.leaving());
    names(root.putArray("replaced"), change.replaced());
    names(root.putArray("adjusted"), change.adjusted());
    refused(root.putArray("refused"), change.refused());
    return root;
  }

  private static void names(ArrayNode to, List<String> names) {
    names.forEach(to::add);
  }

  private static void refused(ArrayNode to, List<Refusal> refusals) {
    refusals.forEach(refusal ->
        to.addObject()
            .put("replica", refusal.replica())
            .put("source", refusal.source())
            .put("reason", refusal.reason()));
  }
}
