package dev.warmpath.kvindex.enginehash;

import static dev.warmpath.kvindex.enginehash.HashAlgorithm.SHA256;
import static dev.warmpath.kvindex.enginehash.HashAlgorithm.SHA256_CBOR;
import static dev.warmpath.kvindex.enginehash.HashAlgorithm.XXHASH;
import static dev.warmpath.kvindex.enginehash.HashAlgorithm.XXHASH_CBOR;
import static dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys.TAGGED;
import static dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys.UNTAGGED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.ExtraKey.CacheSalt;
import dev.warmpath.kvindex.block.ExtraKey.Lora;
import dev.warmpath.kvindex.block.ExtraKey.Multimodal;
import dev.warmpath.kvindex.block.ExtraKey.PromptEmbeds;
import dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Hashes computed by vLLM's own functions, and by CPython's pickle for corners they lack. */
class EngineHasherTest {

  private static final String SEED = HashScheme.DEFAULT_SEED;
  private static final int[] T1 = IntStream.rangeClosed(1, 17).toArray();
  private static final int[] T2 = IntStream.range(100_000, 100_016).toArray();

  @Nested
  class Roots {
    @Test
    void hashTheSeed() {
      assertThat(root(SHA256_CBOR, SEED))
          .isEqualTo("9bd96a485ad84efdafb72ee48a1d7a69bcead0f8f0433173941b276b9581eef0");
      assertThat(root(SHA256, SEED))
          .isEqualTo("066b1e8987e027138e98701c46128929378935f9b6cd1549105ae6b4f0d71198");
      assertThat(root(SHA256_CBOR, "0"))
          .isEqualTo("4e1195df020de59e0d65a33a4279f1183e7ae4e5d980e309f8b55adff2e61c3e");
      assertThat(root(SHA256, "0"))
          .isEqualTo("1973e23848344dc43a988a9b478663803cfffe1243480253f9a3cf004b14aa7c");
    }

    @Test
    void cannotBeChangedFromOutside() {
      EngineHasher hasher = hasher(SHA256, TAGGED, 16, 0);
      hasher.rootHash()[0]++;
      assertThat(hex(hasher.rootHash())).startsWith("066b1e");
    }
  }

  @Nested
  class PlainBlocks {
    @Test
    void chainInCbor() {
      EngineHasher hasher = hasher(SHA256_CBOR, TAGGED, 16, 0);
      byte[] first = hasher.hash(hasher.rootHash(), T1, 0, List.of());
      byte[] second = hasher.hash(first, T2, 0, List.of());
      assertThat(hex(first))
          .isEqualTo("cd7c51bc5a8fc8643f383a2b9e01522fba7473c669e9270c7b0bf7bf7fd01682");
      assertThat(hex(second))
          .isEqualTo("fab60e3bebad6e3f897ee302394986ae3ecde0b37a81558f014d054af21bcf29");
      assertThat(unsigned(first)).isEqualTo("8866452693264111234");
      assertThat(unsigned(second)).isEqualTo("93736986692276009");
    }

    @Test
    void chainInPickle() {
      EngineHasher hasher = hasher(SHA256, TAGGED, 16, 0);
      byte[] first = hasher.hash(hasher.rootHash(), T1, 0, List.of());
      byte[] second = hasher.hash(first, T2, 0, List.of());
      assertThat(hex(first))
          .isEqualTo("7b255da405e1d722823892e4fef187b4d8ac78215d7f0dd2137bb037547f4caf");
      assertThat(hex(second))
          .isEqualTo("bec4bb14400cd3f73af1aea14e4be6b2840557c27b44e0e5eb49f0469f08c7b0");
      assertThat(unsigned(first)).isEqualTo("1403909460543360175");
      assertThat(unsigned(second)).isEqualTo("16954346458319472560");
    }

    @Test
    void chainsInXxhash() {
      EngineHasher cbor = seeded(XXHASH_CBOR, "0");
      byte[] first = cbor.hash(cbor.rootHash(), T1, 0, List.of());
      assertThat(hex(cbor.rootHash())).isEqualTo("1ebe36576dcb573f26b99533a20aaeca");
      assertThat(hex(first)).isEqualTo("c2d7a75070fc6d6b0c3fb0af456c1009");
      assertThat(hex(cbor.hash(first, T2, 0, List.of())))
          .isEqualTo("f08c3d94949b60a335b23ea7abfd9d05");

      EngineHasher pickle = seeded(XXHASH, "0");
      first = pickle.hash(pickle.rootHash(), T1, 0, List.of());
      assertThat(hex(pickle.hash(first, T2, 0, List.of())))
          .isEqualTo("f042d57c631ce689931b27676e2af1f8");
    }

    private EngineHasher seeded(HashAlgorithm algorithm, String seed) {
      return new EngineHasher(new HashScheme(algorithm, seed, TAGGED, 16, 0), name -> name);
    }

    @Test
    void areTakenFromTheMiddleOfPrompt() {
      EngineHasher hasher = hasher(SHA256, TAGGED, 16, 0);
      int[] prompt = IntStream.rangeClosed(-4, 30).toArray();
      assertThat(hasher.hash(hasher.rootHash(), prompt, 5, List.of()))
          .isEqualTo(hasher.hash(hasher.rootHash(), T1, 0, List.of()));
    }
  }

  @Nested
  class Tagged {
    @Test
    void salt() {
      assertHashes(
          List.of(new CacheSalt("tenantA")),
          "dddfd72aeffc19b852fec642c24c970df52f2e6c7f45efcd9a297df87e71152b",
          "7f55c89d19c66a0a39d6fa326b1eec68691e4d47152c2d94f08f7da300a1fce5");
    }

    @Test
    void lora() {
      assertHashes(
          List.of(new Lora("lora1")),
          "f6c104972d75f7daf8e0e56d409346d30421241a8413875de75ac004a7837280",
          "f2e796cde8cf2df4b1ad4349c3cf142998486f724fc97599328dda22bd277da2");
    }

    @Test
    void severalItems() {
      assertHashes(
          List.of(new Multimodal("h1", 0), new Multimodal("h2", 8)),
          "37679e0254e2ac2bb73fe2f04fee978c4164a72ba66a85626218e9066e59cd9c",
          "6a4f05c3947765f2e94eb676ac99b81554fe526a624e8732f2c0daa81a137069");
    }

    @Test
    void allKinds() {
      assertHashes(
          List.of(new Lora("lora1"), new Multimodal("mmhash", -3), new CacheSalt("tenantA")),
          "faa184f245a2dac5051713c29641af9c25c9c28246bb4a9ccc75e79014556163",
          "810b5ea40520122f45e7abc1dc127d6f12f8231f7d27f5550d14189f8ccdf7e4");
    }

    private void assertHashes(List<ExtraKey> keys, String cbor, String pickle) {
      assertThat(first(hasher(SHA256_CBOR, TAGGED, 16, 0), keys)).isEqualTo(cbor);
      assertThat(first(hasher(SHA256, TAGGED, 16, 0), keys)).isEqualTo(pickle);
    }
  }

  @Nested
  class Untagged {
    @Test
    void salt() {
      List<ExtraKey> keys = List.of(new CacheSalt("tenantA"));
      assertThat(first(hasher(SHA256_CBOR, UNTAGGED, 16, 0), keys))
          .isEqualTo("6cb7e28c95242b768eeb5be73ebe9f5a9c23d3f2c41233e7929e1de82891422a");
      assertThat(first(hasher(SHA256, UNTAGGED, 16, 0), keys))
          .isEqualTo("eb82eb37c7a9828f5f9cc246b22a11d7bd0c8cae5143ffefc03d210e0a205247");
    }

    @Test
    void allKinds() {
      List<ExtraKey> keys =
          List.of(new Lora("lora1"), new Multimodal("mmhash", -3), new CacheSalt("tenantA"));
      assertThat(first(hasher(SHA256_CBOR, UNTAGGED, 16, 0), keys))
          .isEqualTo("43eaa298a8147fd6e167fc50579a6001edb3cdbbbc5510c8e38fb412d3699b37");
    }
  }

  @Nested
  class Lookahead {
    @Test
    void ofOneToken() {
      assertThat(first(hasher(SHA256_CBOR, TAGGED, 16, 1), List.of()))
          .isEqualTo("8f8e3f5bc9428ae1af2b4970dc2105f8bbda21e14f20940633bcaa27f3bba02f");
      assertThat(first(hasher(SHA256, TAGGED, 16, 1), List.of()))
          .isEqualTo("aaae00ed04de962ecfa556ea7d0016da9c2e4256e129f4b69593b533e9d40647");
    }

    @Test
    void ofTwoTokensBesideSalt() {
      EngineHasher hasher = hasher(SHA256, TAGGED, 16, 2);
      assertThat(hashOf(hasher, tokens(18), List.of(new CacheSalt("tenantA"))))
          .isEqualTo("6380b4fbcc4f5e576ccc19e8402278b4a3adf3ff5871041435ea7868ef00daf6");
    }
  }

  @Nested
  class PickleCorners {
    @Test
    void shortTuplesHaveNoMark() {
      assertThat(hashOf(hasher(SHA256, TAGGED, 3, 0), tokens(3), List.of()))
          .isEqualTo("12e8a72cbffa280b7d6f148ffe5015766b715a5e59f244d9d2f219f978af32be");
      assertThat(hashOf(hasher(SHA256, TAGGED, 1, 0), tokens(1), List.of()))
          .isEqualTo("1876a790824e1c62cc68ce0472a1542ccc7bf2d1d5c9e53827fc516bb9f88601");
    }

    @Test
    void framesAreCutAt64KiB() {
      assertThat(hashOf(hasher(SHA256, TAGGED, 20_000, 0), tokens(20_000), List.of()))
          .isEqualTo("8f6e58047b1f3eecd2201e2e3f4b2055790f341a557ba3cb642c9970174f3554");
    }

    @Test
    void longAndForeignStrings() {
      EngineHasher hasher = hasher(SHA256, TAGGED, 16, 0);
      assertThat(hashOf(hasher, tokens(16), List.of(new CacheSalt("x".repeat(300)))))
          .isEqualTo("156e6325d6f8588e85bb8cebbd01e7bf92863726c9bd04c10b5e5272ec624588");
      assertThat(hashOf(hasher, tokens(16), List.of(new CacheSalt("zürich-日本"))))
          .isEqualTo("266050c2f5e8d2523637cdde003269315fb43787d01fa0553c948142413fc527");
    }

    @Test
    void fourKeysWithEmbeds() {
      List<ExtraKey> keys =
          List.of(
              new Multimodal("a1", 0),
              new Multimodal("b2", -5),
              new Multimodal("c3", 70_000),
              new PromptEmbeds("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"));
      assertThat(hashOf(hasher(SHA256, TAGGED, 16, 0), tokens(16), keys))
          .isEqualTo("3fd8e0a4381bc1a7317f975e78e92ebf1fbe193add7d6e22b7c1a58ee3e4cca8");
    }
  }

  @Test
  void schemesAreValidated() {
    assertThatThrownBy(() -> HashScheme.vllm(0)).hasMessageContaining("blockSizeTokens=0");
    assertThatThrownBy(() -> new HashScheme(SHA256, SEED, TAGGED, 16, -1))
        .hasMessageContaining("lookaheadTokens=-1");
  }

  private static EngineHasher hasher(
      HashAlgorithm algorithm, HashedKeys keys, int blockSizeTokens, int lookaheadTokens) {
    HashScheme scheme = new HashScheme(algorithm, SEED, keys, blockSizeTokens, lookaheadTokens);
    return new EngineHasher(scheme, name -> "/adapters/" + name);
  }

  private static int[] tokens(int count) {
    return IntStream.range(0, count).map(i -> i * 7919 % 200_000).toArray();
  }

  private static String root(HashAlgorithm algorithm, String seed) {
    HashScheme scheme = new HashScheme(algorithm, seed, TAGGED, 16, 0);
    return hex(new EngineHasher(scheme, name -> name).rootHash());
  }

  private static String first(EngineHasher hasher, List<ExtraKey> keys) {
    return hashOf(hasher, T1, keys);
  }

  private static String hashOf(EngineHasher hasher, int[] tokens, List<ExtraKey> keys) {
    return hex(hasher.hash(hasher.rootHash(), tokens, 0, keys));
  }

  private static String hex(byte[] hash) {
    return HexFormat.of().formatHex(hash);
  }

  private static String unsigned(byte[] hash) {
    return Long.toUnsignedString(EngineHasher.low64(hash));
  }
}
