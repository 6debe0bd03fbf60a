package dev.warmpath.eventingest.hashing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.BlockTokens;
import dev.warmpath.eventingest.wire.ColumnsOf;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The first page of ids 1…32 in pages of 16, as SGLang 0.5.23 hashes it. */
final class SglangNamespacesTest {

  private static final int[] IDS = IntStream.rangeClosed(1, 33).toArray();
  private static final String FR = SglangNamespaces.adapterId("fr", "lora/fr");

  private final SglangNamespaces namespaces = of(EventFormat.DEFAULT);
  private final SglangNamespaces dynamo = of(EventFormat.DYNAMO);

  private static SglangNamespaces of(EventFormat format) {
    return SglangNamespaces.of(format, Map.of("fr", "lora/fr"));
  }

  @Test
  void adapterIdFollowsFromNameAndPath() {
    assertThat(FR).isEqualTo("678c9802de1a5cea8cbfb4957918e862");
  }

  @Test
  void pagesHashAsTheEngineHashesThem() {
    assertThat(page(null)).isEqualTo(8635429971592222890L);
    assertThat(page("tenantA")).isEqualTo(8148637879521523423L);
    long[] ids = Arrays.stream(IDS).asLongStream().toArray();
    assertThat(SglangNamespaces.PageHasher.page(ids, 16, true, null))
        .isEqualTo(-7316793502406646264L);
    ids[0] = (1L << 40) + 5;
    assertThat(SglangNamespaces.PageHasher.page(ids, 16, false, null))
        .isEqualTo(3388618984670789789L);
    assertThat(SglangNamespaces.PageHasher.page(ids, 16, true, null))
        .isEqualTo(3644373869863613845L);
  }

  @Test
  void nameSpacesHashAsTheEngineHashesThem() {
    assertThat(SglangNamespaces.PageHasher.inNamespace(page(null), FR, null))
        .isEqualTo(1472499773248983558L);
    assertThat(SglangNamespaces.PageHasher.inNamespace(page("tenantA"), FR, null))
        .isEqualTo(-5647580507996009255L);
    assertThat(SglangNamespaces.PageHasher.inNamespace(page(null), "x" + FR, null))
        .isEqualTo(2841116293257009986L);
    assertThat(SglangNamespaces.PageHasher.inNamespace(page("tenantA"), null, "tenantA"))
        .isEqualTo(-5506645415500093536L);
    assertThat(SglangNamespaces.PageHasher.inNamespace(page(null), "x", null))
        .isEqualTo(794546959763694826L);
    assertThat(SglangNamespaces.PageHasher.inNamespace(page("tenantA"), "x", "tenantA"))
        .isEqualTo(6350942605982716550L);
  }

  @Test
  void plainPagesKeepTheirNames() {
    assertPlain(8635429971592222890L, null, null);
    assertPlain(8148637879521523423L, null, "tenantA");
    assertPlain(-5506645415500093536L, null, "tenantA");
    assertPlain(1472499773248983558L, "fr", null);
    assertPlain(-5647580507996009255L, "fr", "tenantA");
  }

  @Test
  void pagesOfUnknownAdaptersAreTakenAsTheyCome() {
    assertPlain(4711, "loaded-later", null);
  }

  @Test
  void hiddenPagesAreFoundByRequestsThatShareTheSecret() {
    assertHidden(794546959763694826L, null, null, "x", EventFormat.DYNAMO);
    assertHidden(6350942605982716550L, null, "tenantA", "x", EventFormat.DYNAMO);
    assertHidden(2841116293257009986L, "fr", null, "x", EventFormat.DEFAULT);
  }

  @Test
  void extraKeyShowsOnlyWhereHashesCarryIt() {
    assertThat(namespaces.shows(null)).isFalse();
    assertThat(namespaces.shows("fr")).isTrue();
    assertThat(dynamo.shows(null)).isTrue();
    assertThat(dynamo.shows("fr")).isTrue();
    assertThat(dynamo.shows("loaded-later")).isFalse();
    assertThat(namespaces.keys(new ChainSpace("m", 16, 0), IDS, PromptKeys.NONE, "x")).isNull();
  }

  @Test
  void saltAloneInTheOtherFormatsHashIsNotPlain() {
    BlockStored store = store(8148637879521523423L, null, "tenantA");
    assertThat(dynamo.rootLocalHash(row(store)))
        .as("the default format shows no extra_key beside the salt")
        .isNotEqualTo(store.localHash(0));
    BlockStored own = store(-5506645415500093536L, null, "tenantA");
    assertThat(dynamo.rootLocalHash(row(own))).isEqualTo(own.localHash(0));
  }

  @Test
  void saltCannotPassForAHash() {
    PromptKeys shared = dynamo.keys(new ChainSpace("m", 16, 0), IDS, PromptKeys.NONE, "x");
    assertThat(shared).isNotNull();
    String forged = shared.cacheSalt();
    long page = SglangNamespaces.PageHasher.inNamespace(page(forged), null, forged);
    assertThat(dynamo.rootLocalHash(row(store(page, null, forged)))).isNotEqualTo(chain(shared));
  }

  @Test
  void textTellsThemApart() {
    assertThat(SglangNamespaces.PLAIN.text()).isEqualTo("DEFAULT []");
    assertThat(dynamo.text()).isEqualTo("DYNAMO [fr=" + FR + "]");
    assertThat(namespaces.text()).isNotEqualTo(dynamo.text());
  }

  private void assertPlain(long hash, @Nullable String lora, @Nullable String salt) {
    BlockStored store = store(hash, lora, salt);
    assertThat(namespaces.rootLocalHash(row(store))).isEqualTo(store.localHash(0));
    assertThat(store.localHash(0)).isEqualTo(chain(new PromptKeys(lora, salt)));
  }

  private void assertHidden(
      long hash,
      @Nullable String lora,
      @Nullable String salt,
      String extraKey,
      EventFormat format) {
    BlockStored store = store(hash, lora, salt);
    PromptKeys plain = new PromptKeys(lora, salt);
    ChainSpace space = new ChainSpace("m", 16, 0);
    PromptKeys shared = of(format).keys(space, IDS, plain, extraKey);
    PromptKeys other = of(format).keys(space, IDS, plain, extraKey + "y");

    assertThat(shared).isNotNull();
    assertThat(of(format).rootLocalHash(row(store))).isEqualTo(chain(shared));
    assertThat(namespaces.rootLocalHash(row(store))).isNotEqualTo(chain(plain));
    assertThat(namespaces.rootLocalHash(row(store))).isNotEqualTo(chain(other));
  }

  private static long page(@Nullable String salt) {
    long[] ids = Arrays.stream(IDS).asLongStream().toArray();
    return SglangNamespaces.PageHasher.page(ids, 16, false, salt);
  }

  private static long chain(PromptKeys keys) {
    return BlockChain.of(new ChainSpace("m", 16, 0), IDS, keys).localHash(0);
  }

  private static EventRow row(BlockStored store) {
    return ColumnsOf.events(List.of(store)).row(0);
  }

  private static BlockStored store(long hash, @Nullable String lora, @Nullable String salt) {
    return new BlockStored(
        new long[] {hash},
        null,
        BlockTokens.of(16, IntStream.rangeClosed(1, 16).toArray()),
        new BlockKeys(lora, salt, List.of(), Naming.DENSE),
        BlockPlace.GPU,
        GroupSpec.UNSAID);
  }
}
