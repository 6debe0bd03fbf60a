package dev.warmpath.eventingest.memory.file;

import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.knowledge.Gap;
import dev.warmpath.eventingest.memory.EngineIdentity;
import dev.warmpath.eventingest.memory.EngineMemory;
import dev.warmpath.eventingest.memory.IngestMemory;
import dev.warmpath.eventingest.stream.StreamMemory;
import dev.warmpath.eventingest.traffic.LifetimeFacts;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** The bytes that routers wrote before now, in versions 1 to 4 of the format. */
public final class EarlierVersions {

  private final int version;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  private EarlierVersions(int version) {
    this.version = version;
  }

  /** What a router of that time would have written. */
  public static byte[] bytes(int version, IngestMemory memory, RunKvIndex index)
      throws IOException {
    EarlierVersions body = new EarlierVersions(version);
    body.write(memory);
    EarlierVersions file = new EarlierVersions(version);
    file.out.write(SnapshotFormat.MAGIC);
    file.out.writeInt(version);
    file.out.writeInt(body.bytes.size());
    file.out.write(body.bytes.toByteArray());
    CRC32C checksum = new CRC32C();
    checksum.update(file.bytes.toByteArray());
    file.out.writeInt((int) checksum.getValue());
    index.writeTo(file.out);
    return file.bytes.toByteArray();
  }

  private void write(IngestMemory memory) throws IOException {
    out.writeLong(memory.taken().toEpochMilli());
    out.writeInt(memory.engines().size());
    for (EngineMemory engine : memory.engines()) {
      write(engine.identity());
      out.writeInt(engine.slot());
      out.writeLong(engine.namedBlocks());
      StreamMemory stream = engine.stream();
      out.writeBoolean(stream != null);
      if (stream != null) {
        write(stream);
      }
    }
  }

  private void write(EngineIdentity identity) throws IOException {
    text(identity.id().replica());
    out.writeInt(identity.id().dpRank());
    text(identity.model());
    boolean usual = identity.removals() == identity.dialect().removals();
    text(identity.dialect().name() + (usual ? "" : " " + identity.removals().name()));
    out.writeInt(identity.droppedBlocks());
    if (version >= 4) {
      out.writeBoolean(identity.hiddenNamespaces());
    }
  }

  private void write(StreamMemory stream) throws IOException {
    out.writeLong(stream.lastSequence());
    out.writeLong(stream.lastDigest());
    if (version >= 2) {
      out.writeDouble(stream.startSeconds());
    }
    Gap gap = stream.gap();
    out.writeBoolean(gap != null);
    if (gap != null) {
      text(gap.why());
      out.writeBoolean(gap.healable());
    }
    write(stream.learned());
  }

  private void write(LearnedCache learned) throws IOException {
    out.writeInt(learned.groups().described().size());
    for (CacheGroup group : learned.groups().described()) {
      out.writeInt(group.index());
      text(group.kind().name());
      out.writeInt(group.blockSizeTokens());
      out.writeInt(group.slidingWindowTokens());
    }
    out.writeInt(learned.groups().highest());
    out.writeInt(learned.mainGroup());
    ChainSpace space = learned.space();
    out.writeBoolean(space != null);
    if (space != null) {
      text(space.model());
      out.writeInt(space.blockSizeTokens());
      out.writeInt(space.lookaheadTokens());
    }
    if (version >= 3) {
      out.writeBoolean(learned.recalled());
    }
    if (version >= 4) {
      out.writeInt(learned.groups().windowTokens());
      LifetimeFacts facts = learned.facts();
      out.writeBoolean(facts.mayRepeat());
      out.writeInt(facts.chunkBlocks());
      out.writeBoolean(facts.hiddenSeen());
      out.writeLong(facts.watchedFrom());
    }
  }

  private void text(String text) throws IOException {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(utf8.length);
    out.write(utf8);
  }
}
