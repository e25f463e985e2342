/** One dialog, as it happens. */

import { useEffect, useState } from "preact/hooks";
import type { DialogOut } from "../../generated/monitor";
import { useMay, useMonitor } from "../context";
import type { Watched } from "../dialog";
import { shortId } from "../format";
import { Button } from "../parts/Button";
import { Head } from "../parts/Head";
import { Loaded } from "../parts/Loaded";
import { useResource } from "../resource";
import { useStore } from "../store";
import { Facts, Judgements, Payments } from "../talk/Aside";
import { EndAsk, ExtendAsk, FlagAsk, TellAsk } from "../talk/actions";
import { Item } from "../talk/Item";
import { People } from "../talk/People";
import { Transcript } from "../talk/Transcript";
import { t } from "../texts";

export function DialogView({ id }: { id: string }) {
  const { api, live } = useMonitor();
  useEffect(() => live.follow(id), [live, id]);
  const watched = useStore(live.watched);
  const fetched = useResource(() => api.dialog(id), id, ["dialogs", "review", "ledger"]);
  useEffect(() => {
    if (fetched.data !== null) live.take(fetched.data);
  }, [fetched.data]);
  const followed = watched?.dialog.id === id ? watched : null;
  // Whoever is let go is owed something from then on, which no event says.
  const letGo = followed?.dialog.standing.seats.filter(({ release }) => release !== null).length ?? 0;
  useEffect(() => {
    if (letGo > 0 && fetched.data !== null) fetched.reload();
  }, [letGo]);
  // What comes over the live connection is newer, if there is one.
  const shown = { ...fetched, data: followed?.dialog ?? fetched.data };
  return (
    <>
      <Head title={t.dialog.title(shortId(id))} back={{ href: "/monitor/dialogs", text: t.views.dialogs }}>
        {shown.data && <Actions dialog={shown.data} />}
      </Head>
      <Loaded resource={shown} lines={10}>
        {(dialog) => <Whole dialog={dialog} watched={followed} />}
      </Loaded>
    </>
  );
}

function Whole({ dialog, watched }: { dialog: DialogOut; watched: Watched | null }) {
  return (
    <div class="talk-page">
      <section class="panel talk-main" aria-label={t.talk.transcript}>
        <Transcript dialog={dialog} watched={watched ?? { dialog, typing: {} }} />
      </section>
      <div class="talk-aside">
        <section class="panel" aria-label={t.talk.about}>
          <Item dialog={dialog} />
          <Facts dialog={dialog} />
        </section>
        <People dialog={dialog} />
        <Payments payments={dialog.payments} />
        <Judgements dialog={dialog} />
      </div>
    </div>
  );
}

function Actions({ dialog }: { dialog: DialogOut }) {
  const may = useMay("reviewer");
  const [asked, setAsked] = useState<"tell" | "extend" | "end" | "flag" | null>(null);
  if (!may) return null;
  const going = dialog.standing.phase !== "ended";
  const close = () => setAsked(null);
  return (
    <>
      {going && (
        <>
          <Button testid="act-tell" onPress={() => setAsked("tell")}>
            {t.act.tellShort}
          </Button>
          <Button testid="act-extend" onPress={() => setAsked("extend")}>
            {t.act.extendShort}
          </Button>
        </>
      )}
      <Button testid="act-flag" onPress={() => setAsked("flag")}>
        {t.act.flagShort}
      </Button>
      {going && (
        <Button testid="act-end" look="danger" onPress={() => setAsked("end")}>
          {t.act.endShort}
        </Button>
      )}
      {asked === "tell" && <TellAsk dialog={dialog} onClose={close} />}
      {asked === "extend" && <ExtendAsk dialog={dialog} onClose={close} />}
      {asked === "flag" && <FlagAsk dialog={dialog} onClose={close} />}
      {asked === "end" && <EndAsk dialog={dialog} onClose={close} />}
    </>
  );
}
