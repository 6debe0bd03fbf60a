package dev.warmpath.eventingest.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import java.util.Arrays;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Has a payload decoded to columns, to objects and by msgpack-core, and holds the three together.
 *
 * <p>Confined to its test.
 */
public final class ThreeDecoders {

  private final ColumnDecoder columns = new ColumnDecoder();
  private final ObjectDecoder objects = new ObjectDecoder();
  private int accepted;

  /** How many payloads could be read. */
  public int accepted() {
    return accepted;
  }

  /** Decodes; the columns, or null if all three refuse. */
  public @Nullable EventColumns agree(byte[] payload) {
    KvEventBatch expected;
    try {
      expected = objects.decode(payload);
    } catch (WireException e) {
      refused(payload, e);
      return null;
    }
    EventColumns read = read(payload);
    same(KvEventDecoder.batch(read), expected);
    assertThat(read.firstProblem()).isEqualTo(expected.firstProblem());
    KvEventBatch oracle = oracle(payload);
    if (oracle != null) {
      same(oracle, expected);
    }
    for (int i = 0; i < read.events(); i++) {
      if (expected.events().get(i) instanceof BlockStored stored) {
        assertThat(read.row(i).naming()).isEqualTo(stored.naming());
        sameNames(read, read.row(i), stored);
      }
    }
    accepted++;
    return read;
  }

  /** msgpack-core believes any length, so it is asked only when all lengths were found right. */
  private void refused(byte[] payload, WireException expected) {
    String reason = expected.getMessage();
    try {
      columns.decode(payload);
    } catch (WireException e) {
      assertThat(e.getMessage()).isEqualTo(reason);
      if (reason.contains("behind the batch") || reason.contains("without events")) {
        assertThat(refusedByOracle(payload)).isTrue();
      }
      return;
    }
    throw new AssertionError("columns read what is refused with " + reason);
  }

  private static boolean refusedByOracle(byte[] payload) {
    try {
      return MsgpackOracle.decode(payload) == null;
    } catch (MsgpackOracle.Refused e) {
      return true;
    }
  }

  private EventColumns read(byte[] payload) {
    try {
      return columns.decode(payload);
    } catch (WireException e) {
      throw new AssertionError("only columns refuse", e);
    }
  }

  private static @Nullable KvEventBatch oracle(byte[] payload) {
    try {
      return MsgpackOracle.decode(payload);
    } catch (MsgpackOracle.Refused e) {
      throw new AssertionError("only msgpack-core refuses", e);
    }
  }

  private static void same(KvEventBatch batch, KvEventBatch expected) {
    assertThat(described(batch)).isEqualTo(described(expected));
  }

  private static String described(KvEventBatch batch) {
    StringBuilder all = new StringBuilder();
    all.append(batch.timestampSeconds()).append(' ').append(batch.dataParallelRank());
    all.append(' ').append(new TreeMap<>(batch.skipped()));
    for (KvEvent event : batch.events()) {
      all.append('\n');
      if (event instanceof BlockStored stored) {
        BlockTokens tokens = stored.tokens();
        all.append(Arrays.toString(stored.blockHashes())).append(stored.parentBlockHash());
        all.append(Arrays.toString(tokens.ids())).append(tokens.blockSizeTokens());
        all.append(' ').append(tokens.lookaheadTokens()).append(tokens.naming());
        all.append(stored.keys()).append(stored.place()).append(stored.spec());
      } else if (event instanceof BlockRemoved removed) {
        all.append(Arrays.toString(removed.blockHashes())).append(removed.place());
      } else {
        all.append(event);
      }
    }
    return all.toString();
  }

  private static void sameNames(EventColumns columns, EventRow row, BlockStored stored) {
    if (row.naming() != Naming.DENSE) {
      return;
    }
    row.nameBlocks();
    for (int i = 0; i < row.hashCount(); i++) {
      assertThat(columns.hashes()[row.hashFrom() + row.hashCount() + i])
          .isEqualTo(stored.localHash(i));
    }
  }
}
